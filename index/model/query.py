"""A query in canonical form: two requests that must get the same answer have equal queries."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from operator import attrgetter
from typing import Annotated, Any, Literal, TypeAlias, get_type_hints

import orjson
from pydantic import ConfigDict, TypeAdapter

from index.model.attributes import Condition
from index.model.conditions.attributes import ATTRIBUTES
from index.model.conditions.condition import FilterCondition, FilteredChunk, NothingMeetsBoth
from index.model.conditions.documents import DOCUMENTS, EXCLUDE_DOCUMENTS
from index.model.conditions.kinds import KINDS, Kinds
from index.model.conditions.languages import LANGUAGES
from index.model.conditions.metadata import METADATA
from index.model.conditions.names import Names
from index.model.conditions.sources import SOURCES
from index.model.conditions.tags import TAGS_ALL, TAGS_ANY
from index.model.conditions.trust import TRUST
from index.model.conditions.updated import UPDATED_AFTER, UPDATED_BEFORE
from index.model.conditions.validity import AS_OF, VALID_ON
from index.model.query_parts.boost import Boost

FusionName: TypeAlias = Literal["absolute", "relative", "rrf"]
HighlightUnits: TypeAlias = Literal["code_points", "utf16"]

FACET_VALUES_MAX = 10  # if a request names no number

_DUPLICATES = 2  # best chunks that duplicate or overlap others; more cost a second search


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions on a document and its chunk, beside readability; None admits everything.

    Each row is a condition: its name, the type of its value, and the file that says all about it.
    Keys of answers depend on the order of the rows: a new one is the last.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")  # a token's unknown condition is not ignored

    sources: Annotated[Names | None, SOURCES] = None
    tags_any: Annotated[Names | None, TAGS_ANY] = None
    tags_all: Annotated[Names | None, TAGS_ALL] = None
    languages: Annotated[Names | None, LANGUAGES] = None
    updated_after: Annotated[datetime | None, UPDATED_AFTER] = None
    updated_before: Annotated[datetime | None, UPDATED_BEFORE] = None
    exclude_documents: Annotated[Names | None, EXCLUDE_DOCUMENTS] = None
    metadata: Annotated[dict[str, Any] | None, METADATA] = None
    kinds: Annotated[Kinds, KINDS] = ("text",)
    attributes: Annotated[Condition | None, ATTRIBUTES] = None
    valid_on: Annotated[Names | None, VALID_ON] = None
    as_of: Annotated[Names | None, AS_OF] = None
    documents: Annotated[Names | None, DOCUMENTS] = None
    trust: Annotated[Names | None, TRUST] = None

    def admits(self, chunk: FilteredChunk) -> bool:
        """Whether the filter admits the chunk, by its own fields."""
        return all(condition.admits(value, chunk) for condition, value in self.conditions)

    def admits_document(self, chunk: FilteredChunk) -> bool:
        """Whether the chunk's document meets all conditions on documents."""
        return all(
            condition.admits(value, chunk)
            for condition, value in self.conditions
            if condition.table == "documents"
        )

    @property
    def conditions(self) -> Sequence[tuple[FilterCondition[Any], Any]]:
        """Those that may leave something out, with their values."""
        values = _values(self)
        if values == _DEFAULTS:
            return _DEFAULT_CONDITIONS  # as for most searches
        return _asked(values)

    @property
    def is_narrow(self) -> bool:
        """Whether it may leave out whole documents."""
        return _of_documents(self) != _OF_ALL_DOCUMENTS

    @property
    def is_dated(self) -> bool:
        """Whether each change of a partition ends a cached answer with this filter."""
        return any(condition.is_dated for condition, _ in self.conditions)

    @property
    def unindexed(self) -> "Filter | None":
        """The conditions on documents that shards don't test themselves; None if there are none."""
        values = _of_documents(self)
        if values == _OF_ALL_DOCUMENTS:
            return None
        rows = zip(_DOCUMENT_CONDITIONS.items(), values, strict=True)
        asked = {
            name: value for (name, each), value in rows if each.mask is None and value is not None
        }
        return Filter(**asked) if asked else None

    @property
    def needs_tables(self) -> bool:
        """Whether it has a condition on chunks that shards don't test themselves."""
        return bool(_UNMASKED) and any(getattr(self, name) is not None for name in _UNMASKED)

    def narrowed(self, limits: "Filter") -> "Filter":
        """The conjunction of both filters; limits: without conditions that can't be merged."""
        if not limits.is_narrow:
            return self
        merged: dict[str, Any] = {}
        for name, condition in CONDITIONS.items():
            asked, limit = getattr(self, name), getattr(limits, name)
            if limit == getattr(_ANYTHING, name):
                continue
            assert condition.both is not None, "a token has none"
            try:
                merged[name] = limit if asked is None else condition.both(asked, limit)
            except NothingMeetsBoth:
                merged |= {name: None, "sources": ()}
        return replace(self, **merged)

    @property
    def digest(self) -> bytes:
        """16 bytes, equal for equal filters and different for different ones."""
        return _digest(self)


CONDITIONS: Mapping[str, FilterCondition[Any]] = {
    name: row.__metadata__[0] for name, row in get_type_hints(Filter, include_extras=True).items()
}
FILTER = TypeAdapter(Filter)  # of its JSON forms
_ANYTHING = Filter()
# Read by name each time: `replace` and `==` of whole filters take twenty times as long.
_values = attrgetter(*CONDITIONS)
_DEFAULTS = _values(_ANYTHING)


def _asked(values: Sequence[Any]) -> Sequence[tuple[FilterCondition[Any], Any]]:
    rows = zip(CONDITIONS.values(), values, strict=True)
    return [each for each in rows if each[1] is not None]


_DEFAULT_CONDITIONS = _asked(_DEFAULTS)
_DOCUMENT_CONDITIONS = {
    name: each for name, each in CONDITIONS.items() if each.table == "documents"
}
_UNMASKED = [
    name for name, each in CONDITIONS.items() if each.table == "chunks" and each.mask is None
]
_of_documents = attrgetter(*_DOCUMENT_CONDITIONS)
_OF_ALL_DOCUMENTS = _of_documents(_ANYTHING)


@dataclass(frozen=True, slots=True)
class PostprocessorNames:
    """What `Postprocessing` names for each wish, with all that configures what fulfils it.

    ranker, words: for `rerank`, true or `words`. compressor: for `compress: model`.
    """

    ranker: str = "none"
    words: str = "none"
    compressor: str = "none"


@dataclass(frozen=True, slots=True)
class Postprocessing:
    """The processing of hits after the search.

    top_k: the number of hits in the answer.
    ranker: what reorders them: `heuristic`, or a kind with all that its order depends on after a
        colon; None to keep the order.
    token_budget: of the context text built from them; None for no text.
    compressor: what shortens them for it: `extract`, or a named model; None for no shortening.
    """

    top_k: int
    ranker: str | None = None
    token_budget: int | None = None
    compressor: str | None = None

    @property
    def has_costly_ranker(self) -> bool:
        """Whether it may be a service or a language model."""
        kind = None if self.ranker is None else self.ranker.partition(":")[0]
        return kind not in (None, "heuristic", "words")

    @property
    def is_certain(self) -> bool:
        """Whether equal hits in equal order give an equal text: no model shortens it."""
        return self.compressor in (None, "extract")


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
