"""The request and response body of a batch of searches."""

from typing import Annotated

from pydantic import Field

from gateway.extension import Body, SearchAnswer, SearchBody, with_example


class SearchBatchBody(Body):
    model_config = with_example(
        searches=[{"query": "annual leave"}, {"query": "travel expenses", "top_k": 3}]
    )

    searches: Annotated[tuple[SearchBody, ...], Field(min_length=1)] = Field(
        description="the searches"
    )


class SearchBatchAnswer(Body):
    answers: tuple[SearchAnswer, ...] = Field(description="answers in the order of the searches")
