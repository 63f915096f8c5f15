"""The request and response bodies of confidence, query gates and curation."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from gateway.extension import Body, with_example
from gateway.extensions.curation.low_confidence_store import State
from index.model.document import (
    CURATION_SOURCE,
    Language,
    Line,
    NewDocumentId,
    OneLine,
    Source,
    Tag,
    Tags,
    normalise,
)
from index.model.identifiers import Readers, SubjectId

_PHRASES_MAX = 1_000
_SOURCES_MAX = 1_000
_AnswerText = Annotated[
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
    """The minimum scores of a confident answer; they apply to `absolute` fusion only."""

    model_config = with_example(score_min=0.35)
    score_min: _Score | None = Field(
        None, description="minimum score of the best hit; null: the default of all tenants"
    )
    sources: Annotated[dict[Source, _Score], Field(max_length=_SOURCES_MAX)] = Field(
        {}, description="minimum score by source, instead of `score_min`"
    )
    fallback: _AnswerText | None = Field(
        None, description="the answer of POST /v1/answer below it; null: the default of all tenants"
    )


class ConfidenceAnswer(ConfidenceBody):
    model_config = with_example(score_min=0.35, sources={"log": 0.5}, fallback=None)


class BestScoreCount(Body):
    score: _Score = Field(
        description="the best score of an answer with the fusion `absolute`, rounded down to "
        "hundredths; 0 also without a hit"
    )
    answers: int = Field(description="answers with this score, cached ones too")


class BestScoresAnswer(Body):
    scores: tuple[BestScoreCount, ...] = Field(description="the lowest first")
    kept_days: int = Field(description="the days that are counted, with today")


class GateBody(Body):
    """The words of a query gate; absent fields and null keep the built-in words."""

    model_config = with_example(open=["leave", "how many"])
    open: _Phrases | None = Field(None, description="words and phrases of questions")
    closed: _Phrases | None = Field(
        None, description="words and phrases of other messages; removed before `open` is matched"
    )
    default: Literal["open", "closed"] = Field(
        "open", description="the result for messages without any of these words"
    )


class GateAnswer(Body):
    open: tuple[str, ...] = Field(description="words and phrases that make a message a question")
    closed: tuple[str, ...] = Field(description="words and phrases that make it none")
    default: Literal["open", "closed"] = Field(
        description="the verdict on a message with none of them"
    )
    custom: bool = Field(description="true: the tenant has set the words; false: they are built in")


class LowConfidenceHit(Body):
    chunk_id: int
    document_id: str
    score: float = Field(description="its score when the question was asked")
    tenant: str | None = Field(None, description="another tenant, whose public document it is")


class CurationItem(Body):
    item_id: str = Field(description="identifier of the question")
    question: str
    hits: tuple[LowConfidenceHit, ...] = Field(description="the best hits of the last search")
    count: int = Field(description="how often the question was asked")
    state: State = Field(description="`open`, `resolved` or `dismissed`")
    document_id: str | None = Field(description="the document that resolved it")
    first_at: datetime = Field(description="when the question was first asked")
    last_at: datetime = Field(description="when the question was last asked")


class CurationAnswer(Body):
    items: tuple[CurationItem, ...] = Field(description="the questions, the most frequent first")
    cursor: str | None = Field(description="the `cursor` of the next page; null on the last page")


class ResolveBody(Body):
    """An answer, from which a document is written, or a dismissal."""

    model_config = with_example(answer="25 days a year.", readers=["tenant"])
    answer: _AnswerText | None = Field(
        None, description="the answer; a document is written from the question and the answer"
    )
    dismiss: bool = Field(
        False, description="dismiss the item; it stays dismissed if the question is asked again"
    )
    question: Line | None = Field(None, description="a better wording of the question")
    document_id: NewDocumentId | None = Field(
        None, description="absent: `curation/` and the item's id"
    )
    source: Source = Field(CURATION_SOURCE, description="source of the new document")
    faq_category: Annotated[Tag, AfterValidator(normalise)] | None = Field(
        None, description="write a FAQ of this category instead; it has no owner and no tags"
    )
    language: Language | None = None
    tags: Tags = ()
    owner: SubjectId | None = None
    readers: Readers = ("tenant",)
