"""The request and response bodies of asked questions."""

from datetime import date
from typing import Annotated

from pydantic import Field

from gateway.extension import Body
from gateway.extensions.curation.asked_questions.asked_question_store import KEPT_DAYS_MAX


class QuestionRecordingBody(Body):
    """Whether questions are recorded; 0 also deletes those that are."""

    kept_days: Annotated[int, Field(ge=0, le=KEPT_DAYS_MAX)] = Field(
        description="days for which questions are kept, with today; 0: none is recorded"
    )


class QuestionRecordingAnswer(QuestionRecordingBody):
    pass


class AskedQuestionItem(Body):
    question_id: str = Field(
        description="identifier for `DELETE /v1/search/questions/{question_id}`"
    )
    question: str = Field(description="as it was asked on the last day")
    asked: int = Field(description="how often, in any case and with any punctuation around it")
    unsure: int = Field(description="answers without a hit or of low confidence")
    last_day: date = Field(description="in UTC")


class AskedQuestionsAnswer(Body):
    questions: tuple[AskedQuestionItem, ...] = Field(description="most often asked first")
    kept_days: int = Field(description="0: no question is recorded")
