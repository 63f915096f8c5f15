"""The routes of confidence, questions and query gates, for admins."""

from collections.abc import Callable
from functools import partial
from typing import get_args

from gateway.extension import ApiRoute, Parameter, body_limit, schemas
from gateway.extensions.curation import (
    asked_question_endpoints,
    confidence_endpoints,
    curation_endpoints,
    curation_schemas,
    query_gate_endpoints,
)
from gateway.extensions.curation.asked_questions import asked_question_schemas
from gateway.extensions.curation.curation_services import CurationServices
from gateway.extensions.curation.low_confidence_store import State

_DAY = Parameter({"type": "string", "format": "date"})
_ID = Parameter({"type": "string", "minLength": 1, "description": "identifier of the question"})

_route: Callable[..., ApiRoute[CurationServices]] = partial(
    ApiRoute,
    needs="admin",
    path_parameters={
        "item_id": _ID,
        "name": Parameter({**schemas.GATE.json_schema(), "description": "name of the gate"}),
        "question_id": _ID,
    },
)

ROUTES: tuple[ApiRoute[CurationServices], ...] = (
    _route(
        "GET",
        "/v1/confidence",
        confidence_endpoints.get_confidence,
        summary="Get the minimum scores for a confident answer, and the fallback answer",
        answer=curation_schemas.ConfidenceAnswer,
    ),
    _route(
        "PUT",
        "/v1/confidence",
        confidence_endpoints.put_confidence,
        summary="Set the minimum scores and the fallback answer; invalidates cached answers",
        body=curation_schemas.ConfidenceBody,
        body_bytes_max=body_limit(262_144),
        answer=curation_schemas.ConfidenceAnswer,
    ),
    _route(
        "GET",
        "/v1/confidence/scores",
        confidence_endpoints.get_best_scores,
        summary="Count the answers of the last days by the score of their best hit",
        answer=curation_schemas.BestScoresAnswer,
    ),
    _route(
        "GET",
        "/v1/curation",
        curation_endpoints.list_curation,
        summary="List questions with low-confidence answers, most frequent first",
        answer=curation_schemas.CurationAnswer,
        parameters={
            "cursor": Parameter(
                {"type": "string", "pattern": r"^([0-9]{1,18}\.[0-9A-Za-z_]{1,64})?$"}
            ),
            "state": Parameter({"type": "string", "enum": [*get_args(State)]}),
        },
    ),
    _route(
        "POST",
        "/v1/curation/{item_id}/resolve",
        curation_endpoints.resolve_curation,
        summary="Resolve such a question with a new document, or dismiss it",
        body=curation_schemas.ResolveBody,
        body_bytes_max=body_limit(262_144),
        answer=curation_schemas.CurationItem,
    ),
    _route(
        "GET",
        "/v1/search/questions",
        asked_question_endpoints.list_asked_questions,
        summary="List the questions that were asked most, if they are recorded",
        answer=asked_question_schemas.AskedQuestionsAnswer,
        parameters={
            "from": _DAY,
            "limit": Parameter(
                {"type": "integer", "minimum": 1, "maximum": asked_question_endpoints.LIMIT_MAX}
            ),
            "to": _DAY,
        },
    ),
    _route(
        "PUT",
        "/v1/search/questions/recording",
        asked_question_endpoints.put_question_recording,
        summary="Record questions for some days, or none and delete those recorded",
        body=asked_question_schemas.QuestionRecordingBody,
        body_bytes_max=body_limit(1_024),
        answer=asked_question_schemas.QuestionRecordingAnswer,
    ),
    _route(
        "DELETE",
        "/v1/search/questions/{question_id}",
        asked_question_endpoints.delete_asked_question,
        summary="Delete what is recorded of a question, of all days",
        status=204,
    ),
    _route(
        "GET",
        "/v1/gates/{name}",
        query_gate_endpoints.get_gate,
        summary="Get the words by which a query gate decides which messages are searched",
        answer=curation_schemas.GateAnswer,
    ),
    _route(
        "PUT",
        "/v1/gates/{name}",
        query_gate_endpoints.put_gate,
        summary="Set the tenant's words of a query gate; an empty body restores the built-in ones",
        body=curation_schemas.GateBody,
        body_bytes_max=body_limit(262_144),
        answer=curation_schemas.GateAnswer,
    ),
)
