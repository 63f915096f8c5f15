"""The bodies of requests and answers around searches, as they travel."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from gateway.schemas import Body
from index.model.document import (
    CURATION_SOURCE,
    Language,
    Line,
    NewDocumentId,
    OneLine,
    Owner,
    Readers,
    Source,
    Tags,
    normalise,
)
from index.tenants.curation import State

_PHRASES_MAX = 1_000
_SOURCES_MAX = 1_000
_Said = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=20_000),
    AfterValidator(normalise),
]
_Phrase = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), OneLine
]
_Phrases = Annotated[tuple[_Phrase, ...], Field(max_length=_PHRASES_MAX)]
_Score = Annotated[float, Field(ge=0, le=1)]


class ConfidenceBody(Body):
    """What a hit has to score for an answer to be sure; by `absolute` fusion alone."""

    min: _Score | None = Field(None, description="of any source; null: as set for all tenants")
    sources: Annotated[dict[Source, _Score], Field(max_length=_SOURCES_MAX)] = Field(
        {}, description="by source, what its hits have to score instead"
    )
    fallback: _Said | None = Field(
        None, description="what POST /v1/answer says then; null: as set for all tenants"
    )


class ConfidenceAnswer(ConfidenceBody):
    pass


class GateBody(Body):
    """What is left out, or null, is as it is built in."""

    open: _Phrases | None = Field(None, description="words and phrases of whoever asks something")
    closed: _Phrases | None = Field(None, description="of whoever asks nothing: taken out first")
    otherwise: Literal["open", "closed"] = Field(
        "open", description="what becomes of messages that hold neither"
    )


class GateAnswer(Body):
    open: tuple[str, ...]
    closed: tuple[str, ...]
    otherwise: Literal["open", "closed"]
    own: bool = Field(description="whether the tenant has said so; else it is built in")


class LowConfidenceHit(Body):
    chunk_id: int
    document_id: str
    score: float


class CurationItem(Body):
    item_id: str
    question: str
    hits: tuple[LowConfidenceHit, ...] = Field(description="the best ones of the last time")
    count: int = Field(description="how often it was asked")
    state: State
    document_id: str | None = Field(description="the document that has resolved it")
    first_at: datetime
    last_at: datetime


class CurationAnswer(Body):
    items: tuple[CurationItem, ...]
    cursor: str | None = Field(description="the next page's `cursor`; null on the last page")


class ResolveBody(Body):
    """A new frequent question, or that there is nothing to be done."""

    answer: _Said | None = Field(None, description="makes a document of the question and this")
    dismiss: bool = Field(False, description="let it be; it stays dismissed if it is asked again")
    question: Line | None = Field(None, description="in better words than it was asked in")
    document_id: NewDocumentId | None = Field(
        None, description="`curation/` and the item if absent"
    )
    source: Source = CURATION_SOURCE
    language: Language | None = None
    tags: Tags = ()
    owner: Owner | None = None
    readers: Readers = ("tenant",)
