"""A record of another store, and what reads the records of one of its collections."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from gateway.extension import content
from gateway.extensions._sources.source import RefusedItem

TOO_MANY_VALUES = (
    f"over {content.PARTS_MAX:,} objects, lists and names, or {content.VALUES_MAX:,} values"
)
DEPTH_MAX = 8  # of objects within a record; a starting value
# Objects whose values are metadata: the second and third are LangChain's and LlamaIndex's names.
_METADATA_NAMES = frozenset({"metadata", "cmetadata", "metadata_", "relates_to"})

Values: TypeAlias = Mapping[str, object]  # by name, as JSON has them


@dataclass(frozen=True, slots=True)
class Record:
    """key: what identifies it in its store; None if the store has no identifiers.

    text: None if it is one of the values. vector: None if it has none, or none was asked for.
    """

    key: str | int | None
    values: Values
    text: str | None = None
    vector: Sequence[float] | None = None


class RecordReader(Protocol):
    """Reads one collection page by page, with blocking I/O; raises `NotImportable`.

    name: of the collection.
    columns: by field of a document, the name of its value, unless the operator names another one.
    has_texts: whether a record has its text beside its values.
    """

    name: str
    columns: Mapping[str, str]
    has_texts: bool

    def count(self) -> int:
        """The number of records, as the store says."""
        ...

    def records(self) -> Iterator[Record | RefusedItem]: ...
    def close(self) -> None: ...


def flat(values: Values) -> dict[str, object]:
    """The values without objects: those of `metadata` by their names, of others as `object.name`.

    A value within `metadata` whose name another one has stays `metadata.name`.
    Raises `ValueError`.
    """
    flattened: dict[str, object] = {}
    metadata: list[tuple[str, str, object]] = []
    for name, value in values.items():
        if name in _METADATA_NAMES and isinstance(value, Mapping):
            metadata += ((name, *leaf) for leaf in _leaves(value, "", 1))
        elif isinstance(value, Mapping):
            for path, leaf in _leaves(value, f"{name}.", 1):
                _put(flattened, path, leaf)
        else:
            _put(flattened, name, value)
    for parent, path, leaf in metadata:
        _put(flattened, path if path not in flattened else f"{parent}.{path}", leaf)
    return flattened


def _leaves(values: Values, prefix: str, depth: int) -> Iterator[tuple[str, object]]:
    if depth > DEPTH_MAX:
        raise ValueError(f"objects are nested more than {DEPTH_MAX} deep")
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.", depth + 1)
        else:
            yield f"{prefix}{name}", value


def _put(flattened: dict[str, object], path: str, value: object) -> None:
    if path in flattened:
        raise ValueError("two values get the same name once objects are flattened")
    flattened[path] = value
