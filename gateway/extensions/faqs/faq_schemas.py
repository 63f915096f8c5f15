"""The request and response bodies of FAQs."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, TypeAdapter
from pydantic_core import PydanticCustomError

from gateway.extension import Body, with_example
from index.model.document import TAGS_MAX, Language, OneLine, Tag, normalise
from index.model.document_limits import TITLE_CHARACTERS_MAX
from index.model.form import Form
from index.model.identifiers import Readers

ANSWER_CHARACTERS_MAX = 20_000
PRIORITY_MAX = 1_000
KEYWORDS_MAX = TAGS_MAX - 1  # the category is a tag too

FaqId = Annotated[
    str,
    Form(
        re.compile("[A-Za-z0-9][A-Za-z0-9_-]{0,63}"),
        "must be 1 to 64 characters of A-Z, a-z, 0-9, - and _, the first a letter or a digit",
    ),
]
FAQ_ID: TypeAdapter[str] = TypeAdapter(FaqId)
Question = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=TITLE_CHARACTERS_MAX),
    OneLine,
    AfterValidator(normalise),
]
_AnswerText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=ANSWER_CHARACTERS_MAX),
    AfterValidator(normalise),
]


def _without_comma(keyword: str) -> str:
    if "," in keyword:
        raise PydanticCustomError("form", "must not hold a comma")
    return keyword


CategoryName = Annotated[Tag, AfterValidator(normalise)]
_Keyword = Annotated[Tag, AfterValidator(_without_comma), AfterValidator(normalise)]


class FaqBody(Body):
    """A FAQ to write. An inactive one is in no answer; its readers are kept."""

    model_config = with_example(
        question="How many days of leave do I get?", answer="25 days a year.", category="leave"
    )
    question: Question
    answer: _AnswerText
    category: CategoryName | None = Field(
        None, description="null: none; it is a tag of the document"
    )
    keywords: Annotated[tuple[_Keyword, ...], Field(max_length=KEYWORDS_MAX)] = Field(
        (), description="further words that searches find it by; they are tags of the document"
    )
    priority: Annotated[int, Field(ge=-PRIORITY_MAX, le=PRIORITY_MAX)] = Field(
        0,
        description="the highest is first in the list of its category; a search ranks by it only "
        "if it asks for the boost `importance`",
    )
    active: bool = Field(True, description="whether searches find it")
    language: Language | None = Field(None, description="null: the gateway's own")
    readers: Annotated[Readers, Field(min_length=1)] = ("tenant",)


class FaqLine(FaqBody):
    """One line of an import or an export."""

    model_config = with_example(
        question="How many days of leave do I get?", answer="25 days a year."
    )
    id: FaqId | None = Field(
        None, description="null: a digest of the question, so the same question replaces it"
    )


class FaqAnswer(Body):
    id: str = Field(description="identifier of the FAQ")
    document_id: str = Field(description="of the document that a search finds while it is active")
    question: str
    answer: str
    category: str | None = Field(description="category of the question")
    keywords: tuple[str, ...] = Field(description="further words that searches find it by")
    priority: int = Field(description="the highest is first in the list of its category")
    active: bool
    language: str
    readers: tuple[str, ...]


class FaqsAnswer(Body):
    faqs: tuple[FaqAnswer, ...] = Field(
        description="by category, then the highest priority first, then by id"
    )
    cursor: str | None = Field(description="the `cursor` of the next page; null on the last page")


class FaqCategoryAnswer(Body):
    category: str | None = Field(description="the category; null: without one")
    faqs: int = Field(description="number of FAQs")
    active: int = Field(description="number of active FAQs", examples=[1])


class FaqCategoriesAnswer(Body):
    categories: tuple[FaqCategoryAnswer, ...] = Field(description="the first 1,000 by name")


class FaqWritten(Body):
    id: str
    document_id: str
    revision: int


class FaqImported(FaqWritten):
    line: int = Field(description="number of the line, from 1")
    warning: str | None = Field(None, description="what to check in the FAQ; absent: nothing")
