"""Repositories on this machine, which `nearhit ingest` reads."""

from pathlib import Path

from gateway.extensions._sources.kinds import PathKind
from gateway.extensions.sources_git import git_repository


def _name_of(path: Path) -> str:
    return path.resolve().name.removesuffix(".git")


PATH_KINDS = (
    PathKind("git", git_repository.documents, is_folder=git_repository.is_bare, name_of=_name_of),
)
