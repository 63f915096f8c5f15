"""The bodies of evaluations over HTTP."""

from typing import Annotated

from pydantic import FailFast, Field, JsonValue

from gateway.extension import BATCH_SEARCHES_MAX, Body
from gateway.extensions.evaluation.judged_questions import JudgedQuestion
from gateway.extensions.evaluation.measures import Interval

MADE_MAX = 200  # questions of one call
COMPARED_QUESTIONS_MAX = 1_000
COMPARED_SETTINGS_MAX = 5
_DEPTH_MAX = 100

Share = Annotated[float, Field(ge=0, le=1)]
Depth = Annotated[int, Field(ge=1, le=_DEPTH_MAX)]
# FailFast: only valid items count for max_length.
_Questions = Annotated[tuple[JudgedQuestion, ...], FailFast()]


class MakeQuestionsBody(Body):
    number: int = Field(50, ge=1, le=MADE_MAX, description="maximum number of questions")


class MadeQuestionsAnswer(Body):
    questions: tuple[JudgedQuestion, ...] = Field(
        description="a heading that only one section has, and the beginning of its section"
    )
    documents: int = Field(description="documents that were read for them")


class MeasureAnswersBody(Body):
    questions: _Questions = Field(
        min_length=1, max_length=BATCH_SEARCHES_MAX, description="the questions to ask"
    )
    search: dict[str, JsonValue] = Field(
        default_factory=dict,
        description="fields of `POST /v1/search` for all of them, without `query`, `top_k` and "
        "`vector`",
    )
    top_k: Depth = Field(10, description="hits of each answer")


class MeasuredAnswer(Body):
    first: str | None = Field(description="the document of the first hit; null without a hit")
    recall: Share = Field(description="share of the right documents among the hits")
    mrr: Share = Field(description="1 / the rank of the first right hit; 0 for none")
    ndcg: Share = Field(
        description="right hits, each for less the lower it ranks, to the best possible order"
    )


class MeasuredAnswers(Body):
    answers: tuple[MeasuredAnswer, ...] = Field(description="in the order of the questions")


class MeasuredValues(Body):
    """Of one setting, in the order of the questions."""

    recall: tuple[Share, ...] = Field(description="of each question")
    mrr: tuple[Share, ...] = Field(description="of each question")
    ndcg: tuple[Share, ...] = Field(description="of each question")


class CompareSettingsBody(Body):
    settings: Annotated[tuple[MeasuredValues, ...], FailFast()] = Field(
        min_length=1,
        max_length=COMPARED_SETTINGS_MAX,
        description="the values of each setting, for the same questions in the same order",
    )


class ComparedSetting(Body):
    recall: Interval = Field(description="the mean with its 95 % interval")
    mrr: Interval = Field(description="the mean with its 95 % interval")
    ndcg: Interval = Field(description="the mean with its 95 % interval")
    gain: Interval | None = Field(
        description="the difference of nDCG to the first setting, question by question; null of it"
    )


class ComparisonAnswer(Body):
    settings: tuple[ComparedSetting, ...] = Field(description="in their order")
