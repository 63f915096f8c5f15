"""The routes of answers and popularity; see `table.py`."""

from gateway.answer import (
    answer_endpoint,
    answer_schemas,
    compress_endpoint,
    compress_schemas,
)
from gateway.answer.answer_services import AnswerServices
from gateway.documents import popularity_endpoints, popularity_schemas
from gateway.documents.document_services import DocumentServices
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

POPULARITY: tuple[ApiRoute[DocumentServices], ...] = (
    ApiRoute(
        "POST",
        "/v1/feedback",
        popularity_endpoints.post_feedback,
        needs="reader",
        summary="Report which documents were opened, if the tenant counts it",
        body=popularity_schemas.FeedbackBody,
        answer=popularity_schemas.FeedbackAnswer,
    ),
    ApiRoute(
        "GET",
        "/v1/popularity",
        popularity_endpoints.get_popularity,
        needs="admin",
        summary="Get which openings of documents count for their popularity",
        answer=popularity_schemas.PopularityBody,
    ),
    ApiRoute(
        "PUT",
        "/v1/popularity",
        popularity_endpoints.put_popularity,
        needs="admin",
        summary="Set which openings count, or none and delete those stored",
        body=popularity_schemas.PopularityBody,
        body_bytes_max=body_limit(1_024),
        answer=popularity_schemas.PopularityBody,
    ),
)
