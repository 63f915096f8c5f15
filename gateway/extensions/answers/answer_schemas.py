"""The request and response body of `POST /v1/answer`."""

from typing import Annotated, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from gateway.extension import (
    Body,
    CitationAnswer,
    HitAnswer,
    Question,
    SearchBody,
    with_example,
)


class AnswerBody(SearchBody):
    """A search, and how its answer is written."""

    model_config = with_example(query="How many days of annual leave do I get?", stream=True)

    query: Annotated[Question, Field(min_length=1)] = Field(description="the question")
    stream: bool = Field(
        False, description="send the answer as server-sent events while it is generated"
    )
    regenerate: bool = Field(
        False, description="let the model write a new text, even if one is cached; it replaces that"
    )

    @field_validator("facets")
    @classmethod
    def _no_facets(cls, facets: tuple[str, ...]) -> tuple[str, ...]:
        if facets:
            raise PydanticCustomError("facets", "must be empty: POST /v1/search counts documents")
        return facets

    @field_validator("vector")
    @classmethod
    def _no_vector(cls, vector: str | None) -> str | None:
        if vector is not None:
            raise PydanticCustomError("form", "must be absent: the text answers the query")
        return vector


class GeneratedAnswer(Body):
    answer: str = Field(description="the text; empty if the query gate is closed")
    citations: tuple[CitationAnswer, ...] = Field(
        description="the hits that its marks, such as [1], refer to"
    )
    hits: tuple[HitAnswer, ...] = Field(description="the hits of the search")
    query: str = Field(description="the query that was searched")
    finish_reason: str = Field(
        description="why it ends: stop; length; fallback: no hit is good enough and no model was "
        "called; gate: the query gate is closed"
    )
    rests_on_claims: bool = Field(
        description="whether a citation is of a document that an agent wrote and nobody ratified"
    )
    cached: bool = Field(
        description="whether the model had written this text before, for the same question, "
        "conversation and passages"
    )
    truncated: tuple[int, ...] = Field(
        description="chunks of which the model got only the beginning, for lack of tokens"
    )
    omitted: tuple[int, ...] = Field(
        description="chunks of hits that the model did not get, for lack of tokens"
    )
    gate: Literal["closed"] | None = Field(
        None, description="query gate that decides whether the message is a question"
    )
    low_confidence: bool = Field(
        description="true if no hit reaches the minimum score, or there is no hit"
    )
