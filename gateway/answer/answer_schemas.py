"""The bodies of `POST /v1/answer`."""

from typing import Literal

from pydantic import Field

from gateway.schemas import Body
from gateway.search.search_schemas import CitationAnswer, HitAnswer, SearchBody


class AnswerBody(SearchBody):
    """A search, and whether the answer is to be told while it is written."""

    stream: bool = Field(False, description="as server-sent events while it is written")


class GeneratedAnswer(Body):
    answer: str = Field(description="empty if the gate is closed")
    citations: tuple[CitationAnswer, ...] = Field(description="of the marks in it, such as [1]")
    hits: tuple[HitAnswer, ...] = Field(description="that it was written from, or would have been")
    query: str = Field(description="what was searched")
    finish: str = Field(
        description="why it ends: stop; length; fallback: no hit is good enough, and no model was "
        "asked; gate"
    )
    gate: Literal["closed"] | None = None
    low_confidence: bool = Field(description="no hit scores what it has to, or there is none")
