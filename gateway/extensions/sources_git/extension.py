"""Sources of Git repositories: a worker clones the newest commit of a branch, and reads it."""

from gateway.extension import Extension
from gateway.extensions._sources.source_kind import SourceKind
from gateway.extensions.sources_git.git_reader import open_reader
from gateway.extensions.sources_git.git_schemas import GitHosts, GitSourceBody

EXTENSION: Extension[None] = Extension(
    summary="a worker reads a repository of another host as a source",
    settings=GitHosts,
    contributes=(SourceKind(GitSourceBody, open_reader),),
)
