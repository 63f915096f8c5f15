"""What the paths that a person names are read as."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast, get_args

from gateway.errors import CommandError
from index.model import chunking_config
from index.model.document import Summaries
from ingest.sources.folder import FolderSource
from ingest.sources.kinds import KINDS, Kind, kind_of, open_source
from ingest.sources.source import Defaults, Source


def sources(
    paths: Sequence[Path],
    defaults: Defaults,
    *,
    name: str | None,
    kind: str | None,
    columns: Sequence[str],
    prune: bool,
) -> list[Source]:
    """columns: each FIELD=NAME. Raises `NotPossible`."""
    if name is not None and len(paths) > 1:
        raise CommandError("--source names one source: give one path with it")
    if defaults.cut is not None:
        _check_cut(defaults.cut)
    named = dict(_pair(column) for column in columns)
    kinds = [_kind(kind) if kind else kind_of(path) for path in paths]
    if columns and not {"csv", "parquet"}.issuperset(kinds):
        raise CommandError("--column is for tables: CSV and Parquet")
    if prune and any(
        each == "folder" and path.is_file() for each, path in zip(kinds, paths, strict=True)
    ):
        raise CommandError("--prune compares a whole source with what is stored: name a folder")
    return [
        open_source(each, path, defaults, name=name, columns=named)
        for each, path in zip(kinds, paths, strict=True)
    ]


def one_folder(opened: Sequence[Source]) -> FolderSource:
    """Raises `NotPossible` unless that is what there is."""
    match opened:
        case [FolderSource(is_folder=True) as folder]:
            return folder
        case _:
            raise CommandError("--watch keeps in step with one folder: name one")


def _kind(name: str) -> Kind:
    for kind in KINDS:
        if kind == name:
            return kind
    raise CommandError(f"there is no kind {name!r}: choose {', '.join(KINDS)}")


def _check_cut(name: str) -> None:
    try:
        chunking_config.parse(name)
    except ValueError as error:
        raise CommandError(f"--cut {error}") from None


def summaries(name: str) -> Summaries:
    """Raises `NotPossible`."""
    for each in get_args(Summaries):
        if each == name:
            return cast("Summaries", name)
    raise CommandError(f"--summaries must be one of {', '.join(get_args(Summaries))}")


def _pair(column: str) -> tuple[str, str]:
    field, equals, name = column.partition("=")
    if not (field and equals and name):
        raise CommandError(f"--column {column}: write FIELD=NAME, as in text=body")
    return field, name
