"""The bodies of searches and their answers."""

from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    StringConstraints,
)

from gateway.rag.postprocessor_names import NO_HELPERS, PostprocessorNames
from gateway.schemas import Body, Count, GateName, Instant, No, Storable, Values
from gateway.search.filter_schemas import Filters
from index.model.chunk_kind import Kind
from index.model.document import (
    Language,
    Metadata,
)
from index.model.query import Filter, FusionName, Postprocessing, Query
from index.model.scope import SCOPE_NAMES, ScopeName
from index.text.lexical import base_language

_CANDIDATES_MIN = 50  # that each leg contributes: more if more hits are asked for


_MESSAGES_MAX = 6


_MESSAGE_CHARACTERS_MAX = 8_000


_CONTEXT_TOKENS_MAX = 200_000


class FilterBody(Body):
    """What a document must be to be searched; it only narrows."""

    sources: Values | None = None
    tags_any: Values | None = None
    tags_all: Values | None = None
    languages: Values | None = None
    updated_after: Instant | None = Field(None, description="inclusive")
    updated_before: Instant | None = Field(None, description="exclusive")
    exclude_documents: Values | None = None
    metadata: Metadata | None = Field(None, description="all of it must be in the document's")
    attributes: Filters | None = Field(
        None, description="comparisons of the document's metadata, joined by `and` and `or`"
    )
    kinds: Annotated[tuple[Kind, ...], Field(min_length=1)] = Field(
        ("text",), description="whether hits are pieces of the text, summaries, or both"
    )

    def canonical(self) -> Filter:
        return Filter(
            sources=_sorted(self.sources),
            tags_any=_sorted(self.tags_any),
            tags_all=_sorted(self.tags_all),
            languages=_sorted(self.languages),
            updated_after=self.updated_after,
            updated_before=self.updated_before,
            exclude_documents=_sorted(self.exclude_documents),
            metadata=dict(self.metadata) if self.metadata else None,
            attributes=None if self.attributes is None else self.attributes.condition(),
            kinds=tuple(sorted(set(self.kinds))),
        )


class MessageBody(Body):
    role: Literal["user", "assistant"]
    content: Annotated[str, Field(max_length=_MESSAGE_CHARACTERS_MAX), Storable]


class ContextBody(Body):
    """One text made of the hits, in their order."""

    format: Literal["markdown"] = "markdown"
    token_budget: int = Field(
        ge=1, le=_CONTEXT_TOKENS_MAX, description="most tokens, as estimated; cut at sentence ends"
    )
    compress: Literal["extract", "model"] | No = Field(
        False, description="whether the texts are shortened to what concerns the query, and by whom"
    )


class SearchBody(Body):
    query: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), Storable]
    top_k: Count = Field(5, description="how many hits at most")
    alpha: float | None = Field(
        None, ge=0, le=1, description="0 = pure keywords, 1 = pure meaning; the embedder's default"
    )
    fusion: FusionName = "absolute"
    scopes: Annotated[tuple[ScopeName, ...], Field(min_length=1)] = Field(
        SCOPE_NAMES, description="it can only narrow what the key may see"
    )
    filter: FilterBody = FilterBody()
    min_score: float | None = Field(None, ge=0, description="hits below it are left out")
    max_staleness_ms: int = Field(
        0, ge=0, le=3_600_000, description="how old the answer may be; 0 = never stale"
    )
    semantic: Literal["off", "bounded"] = Field(
        "off",
        description="whether a similar question's answer will do, where such have been right",
    )
    language: Language | None = Field(
        None, description="of the query; every language that the scope holds, if absent"
    )
    document_hits_max: Count | None = Field(
        None, description="most hits of one document; no limit if absent"
    )
    expand: bool = Field(
        False, description="a hit's text takes in the chunk before it and the one after"
    )
    summaries: bool = Field(
        False,
        description="each hit brings the summaries of its document and of the long section that it "
        "is in, where there are any",
    )
    metadata: bool = Field(False, description="each hit brings the metadata of its document")
    explain: bool = Field(
        False, description="show each hit's ranks and scores by leg, and what typos were taken for"
    )

    history: Annotated[tuple[MessageBody, ...], Field(max_length=_MESSAGES_MAX)] = Field(
        (), description="the messages before the query, oldest first, so that it can be understood"
    )
    gate: GateName | None = Field(
        None, description="of messages: what is no question for the documents is not searched"
    )
    rerank: bool = Field(False, description="look at the hits once more and put them in order")
    candidates: Count = Field(20, description="how many hits are looked at once more")
    context: ContextBody | None = None

    @property
    def is_conversational(self) -> bool:
        """Whether it is a message that has to be understood first, or to pass a gate."""
        return self.gate is not None or "history" in self.model_fields_set

    def canonical(self, helpers: PostprocessorNames = NO_HELPERS) -> Query:
        """The same for all requests that must get the same answer, once they are understood."""
        found = max(self.top_k, self.candidates) if self.rerank else self.top_k
        return Query(
            text=" ".join(self.query.split()),
            alpha=None if self.alpha is None else round(self.alpha, 3),
            top_k=found,
            fusion=self.fusion,
            filter=self.filter.canonical(),
            min_score=self.min_score,
            explain=self.explain,
            candidates=max(_CANDIDATES_MIN, found),
            language=None if self.language is None else base_language(self.language),
            document_hits_max=self.document_hits_max,
            expand=self.expand,
            summaries=self.summaries,
            metadata=self.metadata,
            postprocessing=self._finish(helpers) if self.rerank or self.context else None,
        )

    def _finish(self, helpers: PostprocessorNames) -> Postprocessing:
        context = self.context
        return Postprocessing(
            self.top_k,
            helpers.ranker if self.rerank else None,
            None if context is None else context.token_budget,
            None
            if context is None or not context.compress
            else (helpers.compressor if context.compress == "model" else "extract"),
        )


class SearchBatchBody(Body):
    searches: Annotated[tuple[SearchBody, ...], Field(min_length=1)]


class LegAnswer(Body):
    rank: int
    score: float


class ExplainAnswer(Body):
    dense: LegAnswer | None
    lexical: LegAnswer | None


class SummaryAnswer(Body):
    text: str
    start: int = Field(description="of what it sums up in the document's text, in characters")
    end: int


class HitAnswer(Body):
    chunk_id: int
    document_id: str
    title: str
    text: str
    score: float
    source: str
    uri: str
    language: str
    tags: tuple[str, ...]
    start: int = Field(description="of the hit in the document's text, in characters")
    end: int
    kind: Kind = Field(description="a summary's place is that of what it sums up")
    summaries: tuple[SummaryAnswer, ...] | None = Field(
        None, description="of the document, and of the innermost long section; only if asked for"
    )
    metadata: dict[str, Any] | None = Field(None, description="only if asked for")
    explain: ExplainAnswer | None = Field(None, description="only if asked for")
    rerank_score: float | None = Field(
        None, description="by which the hits are in order; only with `rerank`, null for a model's"
    )


class CitationAnswer(Body):
    """A mark in a text, and the hit that it means."""

    mark: str
    start: int = Field(description="of the mark in the text, in characters")
    end: int
    chunk_id: int
    document_id: str


class ContextAnswer(Body):
    text: str
    tokens: int = Field(description="as estimated")
    citations: tuple[CitationAnswer, ...]


class SearchAnswer(Body):
    hits: tuple[HitAnswer, ...]
    corrections: dict[str, tuple[str, ...]] | None = Field(
        None, description="by unknown word of the query, the hits' words it was taken for; explain"
    )
    context: ContextAnswer | None = Field(None, description="only if asked for")
    gate: Literal["closed"] | None = Field(
        None, description="the message is no question for the documents: nothing was searched"
    )
    low_confidence: bool | None = Field(
        None, description="true if no hit scores what it has to; absent else"
    )


class SearchBatchAnswer(Body):
    answers: tuple[SearchAnswer, ...] = Field(description="in the order of the searches")


def _sorted(values: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(sorted(set(values)))
