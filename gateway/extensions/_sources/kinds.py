"""The kinds of sources that a path may be, and what opens one."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.extensions._sources.bounded.bounded_source import BoundedSource
from gateway.extensions._sources.bounded.reader_request import ReaderRequest
from gateway.extensions._sources.folder import FolderSource
from gateway.extensions._sources.source import Defaults, Item, Source
from index.model.form import composed

FOLDER = "folder"


@dataclass(frozen=True, slots=True)
class PathKind:
    """A kind whose sources are each read in a process of its own.

    documents: that process imports its module alone, so it is a function of a module.
    suffixes: of files of this kind. is_folder: whether a folder is of it, unless it is named.
    has_columns: whether its files are tables, whose columns may be named.
    missing: why this machine reads none; empty: it does. name_of: a source by its path.
    """

    name: str
    documents: Callable[[ReaderRequest], Iterator[Item]]
    suffixes: tuple[str, ...] = ()
    is_folder: Callable[[Path], bool] = lambda _path: False
    has_columns: bool = False
    missing: str = ""
    name_of: Callable[[Path], str] = lambda path: path.stem


def kind_of(path: Path, kinds: Mapping[str, PathKind]) -> str:
    """Judged by a file's suffix, and by what is in a folder."""
    for kind in kinds.values():
        if kind.is_folder(path) if path.is_dir() else path.suffix.lower() in kind.suffixes:
            return kind.name
    return FOLDER


def suffixes(kinds: Iterable[PathKind]) -> frozenset[str]:
    """Of files that this machine reads as sources of their own."""
    return frozenset(suffix for kind in kinds if not kind.missing for suffix in kind.suffixes)


def open_source(
    kind: PathKind | None,
    path: Path,
    defaults: Defaults,
    *,
    name: str | None,
    columns: Mapping[str, str],
    within: Path | None = None,
) -> Source:
    """Open a source. columns: of a table, the column of each field of a document, by field.

    within: the resolved folder that contains all files; None allows any location.

    kind: None for a folder, whose files are read here: each is bounded, or has the process of
    `Extractor`. All else is read in a process of its own.
    """
    if kind is None:
        return FolderSource(path, defaults, name=name, within=within)
    request = ReaderRequest(path, defaults, composed(name or kind.name_of(path)), columns, within)
    return BoundedSource(kind.name, kind.documents, request)
