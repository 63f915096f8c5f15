"""Chooses the source that reads a path."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from index.model.form import composed
from ingest.sources.bounded_source import BoundedSource
from ingest.sources.reader_request import ReaderRequest
from ingest.sources.readers import git
from ingest.sources.readers.folder import FolderSource
from ingest.sources.source import Defaults, Source

Kind = Literal["folder", "git", "csv", "parquet", "faqs", "conversations"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_BY_SUFFIX: Mapping[str, Kind] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".yaml": "faqs",
    ".yml": "faqs",
    ".json": "faqs",
    ".jsonl": "conversations",
    ".ndjson": "conversations",
}


def kind_of(path: Path) -> Kind:
    """Judged by a file's suffix; a working tree of a repository is a folder."""
    if path.is_dir():
        return "git" if git.is_bare(path) else "folder"
    return _BY_SUFFIX.get(path.suffix.lower(), "folder")


def open_source(
    kind: Kind,
    path: Path,
    defaults: Defaults,
    *,
    name: str | None,
    columns: Mapping[str, str],
    within: Path | None = None,
) -> Source:
    """Open a source. columns: of a table, by field; see `ingest.sources.readers.table`.

    within: the resolved folder that contains all files; None for a repository, whose files `git`
    opens.

    A folder's files are read here: each is bounded, or has the process of `Extractor`. All else is
    read in a process of its own.
    """
    if kind == "folder":
        return FolderSource(path, defaults, name=name, within=within)
    if kind == "git":
        assert within is None, "git opens its files itself"
        path = path.resolve()
        name = name or path.name.removesuffix(".git")
    request = ReaderRequest(kind, path, defaults, composed(name or path.stem), columns, within)
    return BoundedSource(request)
