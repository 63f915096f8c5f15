"""The sources that the paths and options of `nearhit ingest` describe."""

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
    """columns: each FIELD=NAME. Raises `CommandError`."""
    if name is not None and len(paths) > 1:
        raise CommandError("--source names one source: give exactly one path")
    if defaults.chunker is not None:
        _check_chunker(defaults.chunker)
    names = dict(map(parse_column, columns))
    kinds = [_kind(kind) if kind else kind_of(path) for path in paths]
    if columns and not {"csv", "parquet"}.issuperset(kinds):
        raise CommandError("--column applies only to CSV and Parquet tables")
    if prune and any(
        path_kind == "folder" and path.is_file()
        for path_kind, path in zip(kinds, paths, strict=True)
    ):
        raise CommandError(
            "--prune compares a whole folder with the stored documents: give a folder"
        )
    return [
        open_source(path_kind, path, defaults, name=name, columns=names)
        for path_kind, path in zip(kinds, paths, strict=True)
    ]


def one_folder(sources: Sequence[Source]) -> FolderSource:
    """Raises `CommandError` unless `sources` is exactly one folder."""
    match sources:
        case [FolderSource(is_folder=True) as folder]:
            return folder
        case _:
            raise CommandError("--watch follows one folder: give exactly one folder")


def _kind(name: str) -> Kind:
    for kind in KINDS:
        if kind == name:
            return kind
    raise CommandError(f"there is no kind {name!r}: choose {', '.join(KINDS)}")


def _check_chunker(name: str) -> None:
    try:
        chunking_config.parse(name)
    except ValueError as error:
        raise CommandError(f"--chunker {error}") from None


def summaries(name: str) -> Summaries:
    """The option `--summaries`. Raises `CommandError`."""
    for value in get_args(Summaries):
        if value == name:
            return cast("Summaries", name)
    raise CommandError(f"--summaries must be one of {', '.join(get_args(Summaries))}")


def parse_column(column: str) -> tuple[str, str]:
    """The field and the name of `--column FIELD=NAME`. Raises `CommandError`."""
    field, equals, name = column.partition("=")
    if not (field and equals and name):
        raise CommandError(f"--column {column}: write FIELD=NAME, as in text=body")
    return field, name
