"""The request and response body of `POST /v1/compress`."""

from typing import Annotated

from pydantic import Field, StringConstraints

from gateway.extension import (
    Body,
    MessageBody,
    Storable,
    with_example,
)
from index.model.document import Language

MESSAGES_MAX = 200


class CompressBody(Body):
    """A conversation, and how many tokens of it may stay."""

    model_config = with_example(
        messages=[
            {"role": "user", "content": "Hello! I moved to Porto. How much leave do I get?"},
            {"role": "assistant", "content": "Everybody gets 25 days of leave a year."},
            {"role": "user", "content": "And in the first year?"},
        ],
        token_budget=20,
    )

    messages: Annotated[tuple[MessageBody, ...], Field(min_length=1, max_length=MESSAGES_MAX)] = (
        Field(description="the conversation, oldest message first")
    )
    query: Annotated[str, StringConstraints(strip_whitespace=True), Storable] = Field(
        "",
        description="what the sentences of older messages must concern; empty: the last message "
        "of the user",
    )
    token_budget: int = Field(
        ge=1, le=200_000, description="maximum estimated tokens of all messages"
    )
    keep_last: int = Field(
        2, ge=0, le=MESSAGES_MAX, description="newest messages that stay whole as far as they fit"
    )
    language: Language | None = Field(
        None, description="language of the messages; null: the gateway's own"
    )


class CompressedAnswer(Body):
    messages: tuple[MessageBody, ...] = Field(
        description="what is left of the messages, in their order"
    )
    tokens: int = Field(description="estimated tokens of all of them")
    tokens_before: int = Field(description="estimated tokens of the messages that were sent")
    truncated: tuple[int, ...] = Field(
        description="messages of which a part is left, by position from 0 in the request"
    )
    omitted: tuple[int, ...] = Field(description="messages of which nothing is left, likewise")
