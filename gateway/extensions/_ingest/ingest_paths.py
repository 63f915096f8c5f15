"""The sources that the paths and options of `nearhit ingest` describe."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from pydantic import ValidationError

from gateway.extension import CommandError, field_errors
from gateway.extensions._ingest.origin import Origin, place_of
from gateway.extensions._sources.base_url import checked as checked_base_url
from gateway.extensions._sources.folder import FolderSource
from gateway.extensions._sources.kinds import FOLDER, PathKind, kind_of, open_source
from gateway.extensions._sources.source import Defaults, Source, document
from index.model import chunking_config
from index.model.document import Summaries

# The options that set a field of Defaults which a document may refuse.
_OPTIONS = {"owner": "--owner", "readers": "--reader", "tags": "--tag", "language": "--language"}


@dataclass(frozen=True, slots=True)
class OpenedSource:
    source: Source
    origin: Origin


def sources(
    paths: Sequence[Path],
    defaults: Defaults,
    *,
    name: str | None,
    origin: str | None = None,
    kind: str | None,
    kinds: Mapping[str, PathKind],
    columns: Sequence[str],
    prune: bool,
) -> list[OpenedSource]:
    """kinds: all that a path may be, but a folder. columns: each FIELD=NAME.

    Raises `CommandError`.
    """
    for option, value in (("--source", name), ("--origin", origin)):
        if value is not None and len(paths) > 1:
            raise CommandError(f"{option} names one source: give exactly one path")
    if defaults.chunker is not None:
        _check_chunker(defaults.chunker)
    require_valid(defaults)
    names = dict(map(parse_column, columns))
    if kind is not None:
        _check_kind(kind, kinds)
    each_kind = [kind or kind_of(path, kinds) for path in paths]
    tables = [each.name for each in kinds.values() if each.has_columns]
    if columns and not set(tables).issuperset(each_kind):
        raise CommandError(f"--column applies only to tables: {', '.join(tables) or 'none'}")
    if prune and any(
        path_kind == FOLDER and path.is_file()
        for path_kind, path in zip(each_kind, paths, strict=True)
    ):
        raise CommandError(
            "--prune compares a whole folder with the stored documents: give a folder"
        )
    opened = [
        _opened(path, _open(kinds.get(path_kind), path, defaults, name, names), name, origin)
        for path_kind, path in zip(each_kind, paths, strict=True)
    ]
    _require_distinct(opened)
    return opened


def require_valid(defaults: Defaults) -> None:
    """Raises `CommandError` if no document can have these defaults, before any is read."""
    sample = {"document_id": "sample", "source": "sample", "title": "", "text": "sample", "uri": ""}
    try:
        document(defaults.fields() | sample)
    except ValidationError as error:
        wrong = field_errors.field_errors(error)[0]
        option = _OPTIONS[wrong.field.partition(".")[0]]
        raise CommandError(f"{option} {wrong.detail}") from None


def _open(
    kind: PathKind | None,
    path: Path,
    defaults: Defaults,
    name: str | None,
    columns: Mapping[str, str],
) -> Source:
    if kind is not None and kind.missing:
        raise CommandError(f"{path} {kind.missing}")
    return open_source(kind, path, defaults, name=name, columns=columns)


def _opened(path: Path, source: Source, name: str | None, origin: str | None) -> OpenedSource:
    place = source.folder if isinstance(source, FolderSource) else path  # a file is of its folder
    return OpenedSource(source, Origin(origin or place_of(place), joins=name is not None))


def _require_distinct(opened: Sequence[OpenedSource]) -> None:
    """Raises `CommandError` if two places would be one source, before any of them is read."""
    origins: dict[str, str] = {}
    for each in opened:
        name, origin = each.source.name, each.origin.name
        if origins.setdefault(name, origin) != origin:
            raise CommandError(
                f"{origins[name]} and {origin} would both be the source {name}: ingest each by a "
                "command of its own, with --source NAME"
            )


def one_folder(sources: Sequence[OpenedSource]) -> tuple[FolderSource, Origin]:
    """Raises `CommandError` unless `sources` is exactly one folder."""
    match sources:
        case [OpenedSource(FolderSource(is_folder=True) as folder, origin)]:
            return folder, origin
        case _:
            raise CommandError("--watch follows one folder: give exactly one folder")


def _check_kind(name: str, kinds: Mapping[str, PathKind]) -> None:
    if name not in (FOLDER, *kinds):
        raise CommandError(f"there is no kind {name!r}: choose {', '.join((FOLDER, *kinds))}")


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


def base_url(url: str) -> str:
    """The option `--base-url`; empty if it is not given. Raises `CommandError`."""
    try:
        return checked_base_url(url) if url else ""
    except ValueError as error:
        raise CommandError(f"--base-url {error}") from None


def parse_column(column: str) -> tuple[str, str]:
    """The field and the name of `--column FIELD=NAME`. Raises `CommandError`."""
    field, equals, name = column.partition("=")
    if not (field and equals and name):
        raise CommandError(f"--column {column}: write FIELD=NAME, as in text=body")
    return field, name
