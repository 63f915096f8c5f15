"""What each condition of a filter means, stated once more, and values of it to try.

A new condition has a row here, and then random searches, changes and shards try it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, TypeVar, get_args

from hypothesis import strategies as st

from index.model.attributes import Condition
from index.model.conditions.condition import Table
from index.model.document import Document
from index.model.query import CONDITIONS, Filter
from index.model.scope import ScopeName
from tests.index.support import worlds
from tests.index.support.samples import subsets
from tests.index.support.worlds import IndexPrincipal, Piece

T = TypeVar("T")

INSTANTS = ("2024-01-01T09:00:00", "2025-06-01T11:59:59", "2025-06-01T12:00:00",
            "2025-06-30T12:00:00", "2025-06-30T12:00:01")  # fmt: skip
DAYS = ("2024-01-01", "2025-06-01", "2025-06-30", "2025-07-01")

COMPARISONS = (
    Condition("eq", "team", ("sales",)),
    Condition("ne", "team", ("sales",)),
    Condition("gte", "year", (2025.5,)),
    Condition("nin", "labels", ("a", "c")),
    Condition(
        "or",
        parts=(
            Condition("in", "labels", ("a", "c")),
            Condition(
                "and", parts=(Condition("gte", "year", (2000,)), Condition("ne", "team", ("ops",)))
            ),
        ),
    ),
)

MOMENTS = [worlds.updated_at(hours) for hours in range(3 * worlds.DOCUMENTS_PER_TENANT + 1)]

TABLES: Collection[Table] = get_args(Table)
DEFAULTS = {name: getattr(Filter(), name) for name in CONDITIONS}


@dataclass(frozen=True, slots=True)
class ConditionSample:
    """values: canonical ones. meets: whether a chunk, as of `as_chunk`, meets one."""

    values: Sequence[Any]
    meets: Callable[[Any, Any], bool]


def is_valid(metadata: Mapping[str, Any], day: str) -> bool:
    """Written down once more, for the metadata in METADATA."""
    first, last = (str(metadata.get(name, day))[:10] for name in ("valid_from", "valid_to"))
    return first <= day <= last


def is_valid_at(metadata: Mapping[str, Any], instant: str) -> bool:
    """The same, by whole days where the metadata gives no time of UTC."""
    asked = datetime.fromisoformat(instant).replace(tzinfo=UTC)
    bounds = []
    for name, fill in (("valid_from", "T00:00:00+00:00"), ("valid_to", "T23:59:59+00:00")):
        text = str(metadata.get(name, instant))
        is_exact = text.endswith(("Z", "+00:00"))
        bound = datetime.fromisoformat(text if is_exact else text[:10] + fill)
        bounds.append(bound.replace(microsecond=0))
    return bounds[0] <= asked <= bounds[1]


def compares(metadata: Mapping[str, Any], wanted: Condition) -> bool:
    """Written down once more, for the conditions in COMPARISONS."""
    if wanted.type in ("and", "or"):
        return (all if wanted.type == "and" else any)(
            compares(metadata, part) for part in wanted.parts
        )
    held = metadata.get(wanted.key)
    items = held if isinstance(held, list) else [held]
    if wanted.type == "gte":
        return any(isinstance(item, int | float) and item >= wanted.values[0] for item in items)  # type: ignore[operator]
    is_among = any(item in wanted.values for item in items)
    return is_among if wanted.type in ("eq", "in") else not is_among


def holds(metadata: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(key in metadata and _contains(metadata[key], wanted[key]) for key in wanted)


def _contains(held: Any, wanted: Any) -> bool:
    if isinstance(held, list) and isinstance(wanted, list):
        return all(any(_contains(item, one) for item in held) for one in wanted)
    return isinstance(held, bool) == isinstance(wanted, bool) and bool(held == wanted)


def _some(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Every choice of the names but none, as a canonical query has it."""
    return [tuple(sorted(chosen)) for chosen in subsets(names)[1:]]


SAMPLES: Mapping[str, ConditionSample] = {
    "sources": ConditionSample(
        _some(worlds.SOURCES), lambda sources, chunk: chunk.source in sources
    ),
    "tags_any": ConditionSample(
        _some(worlds.TAGS), lambda tags, chunk: not set(chunk.tags).isdisjoint(tags)
    ),
    "tags_all": ConditionSample(
        _some(worlds.TAGS[:2]), lambda tags, chunk: set(chunk.tags).issuperset(tags)
    ),
    "languages": ConditionSample(
        _some([*worlds.LANGUAGES, "pt"]), lambda languages, chunk: chunk.language in languages
    ),
    "updated_after": ConditionSample(MOMENTS, lambda bound, chunk: chunk.updated_at >= bound),
    "updated_before": ConditionSample(MOMENTS, lambda bound, chunk: chunk.updated_at < bound),
    "documents": ConditionSample(
        _some([f"d{number}" for number in range(5)]),
        lambda documents, chunk: chunk.document_id in documents,
    ),
    "exclude_documents": ConditionSample(
        _some([f"d{number}" for number in range(5)]),
        lambda documents, chunk: chunk.document_id not in documents,
    ),
    "metadata": ConditionSample(
        [*worlds.METADATA, {"labels": ["a"]}, {"year": 2025.0}],
        lambda metadata, chunk: holds(chunk.metadata, metadata),
    ),
    "attributes": ConditionSample(
        COMPARISONS, lambda condition, chunk: compares(chunk.metadata, condition)
    ),
    "valid_on": ConditionSample(
        [DAYS[:1], DAYS[1:2], DAYS[1:]],
        lambda days, chunk: all(is_valid(chunk.metadata, day) for day in days),
    ),
    "as_of": ConditionSample(
        _some(INSTANTS),
        lambda instants, chunk: all(is_valid_at(chunk.metadata, instant) for instant in instants),
    ),
    "trust": ConditionSample(
        [("vouched",), ("source", "vouched"), ("source", "vouched", "web")],
        lambda trusts, chunk: chunk.trust in trusts,
    ),
    "kinds": ConditionSample(
        [("summary",), ("summary", "text")],
        lambda kinds, chunk: ("summary" if chunk.chunk_id < 0 else "text") in kinds,
    ),
}


def meets(chunk: Any, wanted: Filter, tables: Collection[Table] = TABLES) -> bool:
    """Whether the chunk meets the filter's conditions on these."""
    values = {name: getattr(wanted, name) for name in SAMPLES if CONDITIONS[name].table in tables}
    return all(
        SAMPLES[name].meets(value, chunk) for name, value in values.items() if value is not None
    )


def visible(
    world: Sequence[Piece],
    asking: IndexPrincipal,
    names: Collection[ScopeName],
    wanted: Filter,
    tables: Collection[Table] = TABLES,
) -> list[Piece]:
    return [
        piece
        for piece in world
        if worlds.is_in_scope(piece.tenant, piece.document, asking, names)
        and meets(as_chunk(piece.document, piece.updated_at, piece.chunk_id), wanted, tables)
    ]


def as_chunk(document: Document, updated_at: datetime, chunk_id: int = 1) -> Any:
    """A chunk of the document as conditions see it."""
    names = ("document_id", "source", "language", "tags", "metadata")
    values = {name: getattr(document, name) for name in names}
    own = document.provenance
    values |= {"trust": own.trust, "provenance": own.to_json()}
    return SimpleNamespace(**values, updated_at=updated_at, chunk_id=chunk_id)


def seldom(strategy: st.SearchStrategy[T], default: T | None = None) -> st.SearchStrategy[T | None]:
    """Mostly the default: many conditions at once admit nothing."""
    return st.integers(0, 3).flatmap(lambda number: st.just(default) if number else strategy)


def random_filters(**others: st.SearchStrategy[Any]) -> st.SearchStrategy[Filter]:
    """others: values of some conditions, instead of their samples."""
    samples = {name: st.sampled_from(sample.values) for name, sample in SAMPLES.items()}
    rows = {name: seldom(each, DEFAULTS[name]) for name, each in (samples | others).items()}
    return st.builds(Filter, **rows)
