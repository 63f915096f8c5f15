"""The routes of answers; see `table.py`."""

from gateway.answer import (
    answer_endpoint,
    answer_schemas,
    compress_endpoint,
    compress_schemas,
)
from gateway.answer.answer_services import AnswerServices
from gateway.http.route import ApiRoute, body_limit

ANSWER: tuple[ApiRoute[AnswerServices], ...] = (
    ApiRoute(
        "POST",
        "/v1/answer",
        answer_endpoint.post_answer,
        needs="reader",
        summary="Generate an answer from the hits of a search, with citations",
        body=answer_schemas.AnswerBody,
        answer=answer_schemas.GeneratedAnswer,
        stream_type="text/event-stream",
        is_generated=True,
    ),
    ApiRoute(
        "POST",
        "/v1/compress",
        compress_endpoint.compress,
        needs="reader",
        summary="Shorten a conversation to a budget of tokens",
        body=compress_schemas.CompressBody,
        body_bytes_max=body_limit(262_144),
        answer=compress_schemas.CompressedAnswer,
    ),
)
