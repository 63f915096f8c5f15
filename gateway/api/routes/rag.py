"""The routes of answers, confidence, questions, query gates and popularity; see `table.py`."""

from gateway.answer import (
    answer_endpoint,
    answer_schemas,
    compress_endpoint,
    compress_schemas,
)
from gateway.answer.answer_services import AnswerServices
from gateway.api import parameters
from gateway.curation import (
    asked_question_endpoints,
    asked_question_schemas,
    confidence_endpoints,
    curation_endpoints,
    curation_schemas,
    query_gate_endpoints,
)
from gateway.curation.curation_services import CurationServices
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

CURATION: tuple[ApiRoute[CurationServices], ...] = (
    ApiRoute(
        "GET",
        "/v1/confidence",
        confidence_endpoints.get_confidence,
        needs="admin",
        summary="Get the minimum scores for a confident answer, and the fallback answer",
        answer=curation_schemas.ConfidenceAnswer,
    ),
    ApiRoute(
        "PUT",
        "/v1/confidence",
        confidence_endpoints.put_confidence,
        needs="admin",
        summary="Set the minimum scores and the fallback answer; invalidates cached answers",
        body=curation_schemas.ConfidenceBody,
        body_bytes_max=body_limit(262_144),
        answer=curation_schemas.ConfidenceAnswer,
    ),
    ApiRoute(
        "GET",
        "/v1/curation",
        curation_endpoints.list_curation,
        needs="admin",
        summary="List questions with low-confidence answers, most frequent first",
        answer=curation_schemas.CurationAnswer,
        parameters={
            "cursor": parameters.cursor(r"^([0-9]{1,18}\.[0-9A-Za-z_]{1,64})?$"),
            "state": parameters.CURATION_STATE,
        },
    ),
    ApiRoute(
        "POST",
        "/v1/curation/{item_id}/resolve",
        curation_endpoints.resolve_curation,
        needs="admin",
        summary="Resolve such a question with a new document, or dismiss it",
        body=curation_schemas.ResolveBody,
        body_bytes_max=body_limit(262_144),
        answer=curation_schemas.CurationItem,
    ),
    ApiRoute(
        "GET",
        "/v1/search/questions",
        asked_question_endpoints.list_asked_questions,
        needs="admin",
        summary="List the questions that were asked most, if they are recorded",
        answer=asked_question_schemas.AskedQuestionsAnswer,
        parameters={
            "from": parameters.DAY,
            "limit": parameters.limit(asked_question_endpoints.LIMIT_MAX),
            "to": parameters.DAY,
        },
    ),
    ApiRoute(
        "PUT",
        "/v1/search/questions/recording",
        asked_question_endpoints.put_question_recording,
        needs="admin",
        summary="Record questions for some days, or none and delete those recorded",
        body=asked_question_schemas.QuestionRecordingBody,
        body_bytes_max=body_limit(1_024),
        answer=asked_question_schemas.QuestionRecordingAnswer,
    ),
    ApiRoute(
        "DELETE",
        "/v1/search/questions/{question_id}",
        asked_question_endpoints.delete_asked_question,
        needs="admin",
        summary="Delete what is recorded of a question, of all days",
        status=204,
    ),
    ApiRoute(
        "GET",
        "/v1/gates/{name}",
        query_gate_endpoints.get_gate,
        needs="admin",
        summary="Get the words by which a query gate decides which messages are searched",
        answer=curation_schemas.GateAnswer,
    ),
    ApiRoute(
        "PUT",
        "/v1/gates/{name}",
        query_gate_endpoints.put_gate,
        needs="admin",
        summary="Set the tenant's words of a query gate; an empty body restores the built-in ones",
        body=curation_schemas.GateBody,
        body_bytes_max=body_limit(262_144),
        answer=curation_schemas.GateAnswer,
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
