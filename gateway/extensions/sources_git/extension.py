"""Sources of Git repositories: a worker clones the newest commit of a branch, and reads it."""

from gateway.extension import Extension, SourceKind
from gateway.extensions.sources_git.git_reader import GitReader
from gateway.extensions.sources_git.git_schemas import GitHosts, GitSourceBody

EXTENSION: Extension[None] = Extension(
    summary="a worker reads a repository of another host as a source",
    settings=GitHosts,
    source_kinds=(SourceKind(GitSourceBody, GitReader),),
)
