"""A query in canonical form: two requests that must get the same answer have equal queries."""

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from operator import attrgetter
from typing import Any, Literal, TypeAlias

import orjson

from index.model import attributes, validity
from index.model.attributes import Condition
from index.model.boost import Boost
from index.model.chunk_kind import Kind

_Names: TypeAlias = tuple[str, ...] | None
FusionName: TypeAlias = Literal["absolute", "relative", "rrf"]
HighlightUnits: TypeAlias = Literal["code_points", "utf16"]

FACET_VALUES_MAX = 10  # if a request names no number

_NOTHING = object()  # stands for a conjunction that no value meets
_DUPLICATES = 2  # best chunks that duplicate or overlap others; more cost a second search


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions on a document and its chunk, beside readability; None admits everything.

    The collections are sorted and without duplicates. `updated_after` is inclusive,
    `updated_before` exclusive. A document meets `metadata` if it contains all of it (PostgreSQL's
    `@>`); `attributes` are conditions on the document's metadata. A document meets `valid_on` if it
    is valid on all of these days, and `as_of` if it is valid at all of these instants.
    """

    sources: tuple[str, ...] | None = None
    tags_any: tuple[str, ...] | None = None
    tags_all: tuple[str, ...] | None = None
    languages: tuple[str, ...] | None = None
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    exclude_documents: tuple[str, ...] | None = None
    metadata: dict[str, Any] | None = None
    kinds: tuple[Kind, ...] = ("text",)
    attributes: Condition | None = None
    valid_on: tuple[str, ...] | None = None
    as_of: tuple[str, ...] | None = None
    documents: tuple[str, ...] | None = None

    def admits(
        self,
        *,
        document_id: str,
        source: str,
        language: str,
        tags: Collection[str],
        metadata: Mapping[str, Any],
        updated_at: datetime,
        kind: Kind,
    ) -> bool:
        """Whether the filter admits a document's chunk of this kind.

        It must match `passes_filter` in `index/sql/visibility.sql`, and for kinds `is_of_kind` in
        `index/sql/search.sql`.
        """
        return (
            kind in self.kinds
            and (self.sources is None or source in self.sources)
            and (self.tags_any is None or not set(self.tags_any).isdisjoint(tags))
            and (self.tags_all is None or set(self.tags_all) <= set(tags))
            and (self.languages is None or language in self.languages)
            and (self.updated_after is None or updated_at >= self.updated_after)
            and (self.updated_before is None or updated_at < self.updated_before)
            and (self.documents is None or document_id in self.documents)
            and (self.exclude_documents is None or document_id not in self.exclude_documents)
            and (self.metadata is None or _contains(metadata, self.metadata))
            and (self.attributes is None or attributes.meets(metadata, self.attributes))
            and (self.valid_on is None or validity.is_valid_on(metadata, self.valid_on))
            and (self.as_of is None or validity.is_valid_at(metadata, self.as_of))
        )

    @property
    def is_narrow(self) -> bool:
        """Whether it may leave out whole documents."""
        return _of_documents(self) != _OF_ALL_DOCUMENTS

    def narrowed(self, limits: "Filter") -> "Filter":
        """The conjunction of both filters; limits: without `tags_any`, which can't be merged."""
        assert limits.tags_any is None, "a token has none"
        if limits == _ANYTHING:
            return self
        metadata = self.metadata
        if limits.metadata is not None:
            metadata = _both(self.metadata or {}, limits.metadata)
        return replace(
            self,
            sources=_intersection(self.sources, limits.sources) if metadata is not _NOTHING else (),
            tags_all=_union(self.tags_all, limits.tags_all),
            languages=_intersection(self.languages, limits.languages),
            updated_after=_outermost(max, self.updated_after, limits.updated_after),
            updated_before=_outermost(min, self.updated_before, limits.updated_before),
            documents=_intersection(self.documents, limits.documents),
            exclude_documents=_union(self.exclude_documents, limits.exclude_documents),
            metadata=None if metadata is _NOTHING else metadata,
            attributes=attributes.both(self.attributes, limits.attributes),
            valid_on=_union(self.valid_on, limits.valid_on),
            as_of=_union(self.as_of, limits.as_of),
        )

    @property
    def digest(self) -> bytes:
        """16 bytes, equal for equal filters and different for different ones."""
        return _digest(self)


_ANYTHING = Filter()
# Read by name each time: `replace` and `==` of whole filters take twenty times as long.
_of_documents = attrgetter(*(each.name for each in fields(Filter) if each.name != "kinds"))
_OF_ALL_DOCUMENTS = _of_documents(_ANYTHING)


@dataclass(frozen=True, slots=True)
class Postprocessing:
    """The processing of hits after the search.

    top_k: the number of hits in the answer.
    ranker: what reorders them: `heuristic`, or a named service or model; None to keep the order.
    token_budget: of the context text built from them; None for no text.
    compressor: what shortens them for it: `extract`, or a named model; None for no shortening.
    """

    top_k: int
    ranker: str | None = None
    token_budget: int | None = None
    compressor: str | None = None

    @property
    def has_costly_ranker(self) -> bool:
        """Whether a service or a language model reorders the hits."""
        return self.ranker not in {None, "heuristic"}


@dataclass(frozen=True, slots=True)
class Query:
    """A query with everything that determines its answer, beside the scope and the revision.

    alpha: the dense score's share, 0 to 1 in thousandths, if the fusion isn't `rrf`; None for the
        embedder's own.
    candidates: the size of each leg, if the fusion uses legs.
    language: of the text; None to detect it. The words are analysed in every language of the scope.
    document_hits_max: of one document; None for no limit.
    expand: whether a hit's text includes the chunks before and after it.
    summaries: whether a hit includes the summaries of its document and of its section.
    metadata: whether a hit includes its document's metadata.
    updated_at: whether a hit tells when its document was last written.
    postprocessing: selects from `top_k` hits; None if the hits are the answer.
    highlights: whether a hit tells where its text holds the query's words.
    highlight_units: in which these places are counted.
    facets: fields by whose values the visible documents are counted, sorted.
    vector: its own vector, in the canonical form of `query_vector`; None to embed the text. If
        there is no text, no words are matched.
    corrects: whether unknown words are corrected, which tells of words in documents that the whole
        tenant may read. A token that may not read all of these gets no corrections.
    boost: what is added to the scores to rank by; None for nothing.
    diversity: how much likeness to better hits counts against a hit, 0 to 1 in thousandths.
    facet_values_max: of each of these fields.
    relations: whether a hit names the visible documents that are related to its document.
    """

    text: str
    alpha: float | None = None
    top_k: int = 5
    fusion: FusionName = "absolute"
    filter: Filter = Filter()
    min_score: float | None = None
    explain: bool = False
    candidates: int = 50
    language: str | None = None
    document_hits_max: int | None = None
    expand: bool = False
    summaries: bool = False
    metadata: bool = False
    updated_at: bool = False
    postprocessing: Postprocessing | None = None
    highlights: bool = False
    highlight_units: HighlightUnits = "code_points"
    facets: tuple[str, ...] = ()
    facet_values_max: int = FACET_VALUES_MAX
    boost: Boost | None = None
    diversity: float = 0.0
    relations: bool = False
    vector: str | None = None
    corrects: bool = True

    @property
    def by_legs(self) -> bool:
        """Whether the answer depends on the legs' candidates."""
        return self.fusion != "absolute" or self.explain

    @property
    def needs_snapshot(self) -> bool:
        """Whether the answer takes several statements, which must read one snapshot."""
        return bool(self.reads_all_documents or self.diversity or self.reads_popularity)

    @property
    def reads_all_documents(self) -> bool:
        """Whether the answer depends on visible documents that are not among the candidates."""
        replaces = self.boost is not None and self.boost.replaced
        return bool(self.facets or self.relations or replaces)

    @property
    def reorders(self) -> bool:
        """Whether the order of the hits depends on all candidates and not on relevance alone."""
        return self.boost is not None or bool(self.diversity)

    @property
    def reads_popularity(self) -> bool:
        """Whether the answer depends on how often its candidates' documents were opened."""
        return self.boost is not None and bool(self.boost.popularity)

    @property
    def reads_times(self) -> bool:
        """Whether the answer depends on when the documents of its chunks were written."""
        return self.updated_at or (self.boost is not None and self.boost.recency is not None)

    @property
    def depth(self) -> int:
        """The most ranked chunks that may be examined for hits."""
        return 2 * self.candidates

    @property
    def likely_depth(self) -> int:
        """The number of ranked chunks that suffices for most answers."""
        if self.fusion != "absolute" or self.reorders:
            return self.depth
        duplicates = _DUPLICATES if self.document_hits_max is None else 3 * self.top_k
        return min(self.top_k + duplicates, self.depth)

    @property
    def digest(self) -> bytes:
        """16 bytes, equal for equal queries and different for different ones."""
        return _digest(self)

    def asking(self, text: str) -> "Query":
        """The same query with another text; as `replace`, in a quarter of the time."""
        return Query(text, *_beside_text(self))


_beside_text = attrgetter(*(each.name for each in fields(Query) if each.name != "text"))


def _digest(value: "Filter | Query") -> bytes:
    form = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(form, digest_size=16).digest()


def _intersection(names: _Names, other: _Names) -> _Names:
    if names is None or other is None:
        return other if names is None else names
    return tuple(sorted(set(names) & set(other)))


def _union(names: _Names, other: _Names) -> _Names:
    if names is None or other is None:
        return other if names is None else names
    return tuple(sorted({*names, *other}))


def _outermost(pick: Callable[..., datetime], *optional_bounds: datetime | None) -> datetime | None:
    bounds = [bound for bound in optional_bounds if bound is not None]
    return pick(bounds) if bounds else None


def _both(value: Any, other: Any) -> Any:
    """A value that `_contains` accepts exactly where it accepts both; `_NOTHING` if impossible."""
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        parts = {**value, **other}
        parts |= {key: _both(value[key], other[key]) for key in value.keys() & other.keys()}
        return _NOTHING if any(part is _NOTHING for part in parts.values()) else parts
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return [*value, *other]
    return value if _contains(value, other) and _contains(other, value) else _NOTHING


def _contains(value: Any, part: Any) -> bool:
    """PostgreSQL's `@>`: whether a value contains another; the order of lists is ignored."""
    if isinstance(part, Mapping):
        return isinstance(value, Mapping) and all(
            key in value and _contains(value[key], inner) for key, inner in part.items()
        )
    if isinstance(part, list | tuple):
        return isinstance(value, list | tuple) and all(
            any(_contains(element, inner) for element in value) for inner in part
        )
    return isinstance(value, bool) == isinstance(part, bool) and bool(value == part)
