"""The response bodies of searches."""

from typing import Any, Literal

from pydantic import Field

from gateway.bodies.schemas import Body
from gateway.search.schemas.boost_schemas import BoostAnswer
from gateway.search.schemas.facet_schemas import FacetsAnswer
from index.model.chunk_kind import Kind
from index.model.conditions.times import Instant
from index.model.relations import RelationName
from index.model.scope import ScopeName
from index.search.tables.related import RELATED_MAX


class LegAnswer(Body):
    rank: int | None = Field(description="in the leg, from 1; null: not among its candidates")
    score: float = Field(description="score in the leg")


class ExplainAnswer(Body):
    dense: LegAnswer | None = Field(
        description="rank and score by meaning; null: the leg has not found it"
    )
    lexical: LegAnswer | None = Field(
        description="rank and score by words; null: the leg has not found it"
    )
    required_score: float | None = Field(
        description="that the hit has to reach; an answer in which none does is of low confidence; "
        "null: any score will do, or the fusion's scores mean nothing by themselves"
    )
    boost: BoostAnswer | None = Field(None, description="only with `boost`")


class SummaryAnswer(Body):
    text: str
    start: int = Field(
        description="start of the summarized text in the document, in Unicode code points"
    )
    end: int


class HighlightAnswer(Body):
    start: int = Field(description="start of the word in the hit's `text`, in `highlight_units`")
    end: int


class RelatedDocumentAnswer(Body):
    relation: RelationName = Field(description="name of the relation, a key of the metadata")
    direction: Literal["outgoing", "incoming"] = Field(
        description="`outgoing`: the hit's document names this one; `incoming`: this one names it"
    )
    document_id: str
    title: str
    source: str
    uri: str
    language: str
    tenant: str | None = Field(None, description="as of the hit")


class HitAnswer(Body):
    chunk_id: int
    document_id: str
    title: str
    text: str = Field(
        description="the document's text from `start` to `end`, after the lines that the hit "
        "repeats of the list, table or code that it is part of"
    )
    score: float
    source: str
    uri: str
    language: str
    tags: tuple[str, ...]
    start: int = Field(
        description="start of the hit in the document's text, in Unicode code points"
    )
    end: int
    kind: Kind = Field(
        description="`text` or `summary`; `start` and `end` of a summary are those of its text"
    )
    scope: ScopeName = Field(
        description="the first scope, in the order private, shared, tenant, public, through which "
        "the caller sees the document"
    )
    tenant: str | None = Field(
        None, description="another tenant, whose public document it is; absent: the caller's own"
    )
    trust: Literal["claim", "web"] | None = Field(
        None,
        description="`claim`: an agent wrote the document, `web`: it is from the web, and nobody "
        "has ratified it",
    )
    summaries: tuple[SummaryAnswer, ...] | None = Field(
        None, description="of the document and of the innermost long section; only if requested"
    )
    highlights: tuple[HighlightAnswer, ...] | None = Field(
        None, description="the first 100 words of the text that match the query; only if requested"
    )
    relations: tuple[RelatedDocumentAnswer, ...] | None = Field(
        None,
        description=f"the first {RELATED_MAX} related documents that the caller may see and the "
        "filter admits; only if requested",
    )
    metadata: dict[str, Any] | None = Field(
        None, description="only if requested; null if it is longer than 65,536 bytes"
    )
    updated_at: Instant | None = Field(
        None, description="`updated_at` of the document; only if requested"
    )
    explain: ExplainAnswer | None = Field(None, description="only if requested")
    rerank_score: float | None = Field(
        None, description="score by which hits are ordered; only with `rerank`, null for a model"
    )


class CitationAnswer(Body):
    """A mark in a text, and the hit that it refers to."""

    mark: str = Field(description="the mark as it stands in the text, such as `[1]`")
    start: int = Field(description="start of the mark in the text, in Unicode code points")
    end: int = Field(description="end of the mark, in Unicode code points, exclusive")
    chunk_id: int
    document_id: str
    tenant: str | None = Field(None, description="as of the hit")
    trust: Literal["claim", "web"] | None = Field(None, description="as of the hit")


class ContextAnswer(Body):
    text: str = Field(description="text of the hits within the budget")
    tokens: int = Field(description="estimated tokens")
    citations: tuple[CitationAnswer, ...] = Field(
        description="the marks of the text, each with its hit"
    )
    truncated: tuple[int, ...] = Field(
        description="chunks of which the text has only the beginning, for lack of tokens"
    )
    omitted: tuple[int, ...] = Field(
        description="chunks of hits of which the text has nothing: the tokens did not suffice, or "
        "the compression has found nothing in them"
    )


class SearchAnswer(Body):
    hits: tuple[HitAnswer, ...] = Field(
        description="the chunks that answer the question best, the best first"
    )
    corrections: dict[str, tuple[str, ...]] | None = Field(
        None, description="corrections by unknown word of the query; only with `explain`"
    )
    context: ContextAnswer | None = Field(None, description="only if requested")
    facets: FacetsAnswer | None = Field(None, description="only if requested")
    gate: Literal["closed"] | None = Field(
        None,
        description="closed: the message is no question for the documents and was not searched",
    )
    low_confidence: bool | None = Field(
        None, description="true if no hit reaches the minimum score; else absent"
    )
