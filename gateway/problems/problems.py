"""RFC 9457 problem documents: every exception becomes a `Problem` here, by `_PROBLEMS`.

Extensions encode problems in other forms. A new kind also needs a row in
`problem_types.toml`, and a new status one in `_error_statuses` of `gateway/extensions/openapi`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import structlog
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from common import tracebacks
from common.errors import Saturated
from gateway.problems import field_errors
from gateway.problems.field_errors import FieldError
from gateway.problems.problem_catalog import BY_KIND, PREFIX
from index.errors import (
    DatabaseCondition,
    DatabaseUnavailable,
    EmbeddingUnavailable,
    GroupHeld,
    PayloadTooLarge,
    QueueFull,
    QuotaExceeded,
    RightsLost,
    SourceReserved,
    SubjectSuspended,
    TenantFull,
    TenantMissing,
    TokensFull,
    UnstorableText,
    VectorRefused,
)
from index.model.identifiers import GROUPS_MAX
from index.model.quota import Excess
from ingest.errors import DocumentContended, DocumentTooLong, PublishingRefused

# Describing one takes two microseconds of the event loop, and a body can have a million.
ERRORS_DESCRIBED_MAX = 1_000
_ERRORS_MAX = 20  # field errors per problem: enough to fix a body, few enough for a prompt
_RETRY = {"Retry-After": "1"}

log = structlog.get_logger()


@dataclass(eq=False)  # not frozen: Python sets the traceback of a raised exception
class Problem(Exception):
    """kind identifies the problem for programs; detail says what is wrong and what to do.

    Its title is that of the kind in `problem_catalog`.

    members: further ones of the document, for programs.
    """

    status: int
    kind: str
    detail: str
    errors: Sequence[FieldError] = ()
    headers: Mapping[str, str] | None = None
    members: Mapping[str, object] | None = None

    @property
    def title(self) -> str:
        return BY_KIND[self.kind].title

    def body(self) -> dict[str, object]:
        document: dict[str, object] = {
            "type": PREFIX + self.kind,
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
        }
        if self.errors:
            document["errors"] = [
                {"field": error.field, "detail": error.detail} for error in self.errors
            ]
        return {**document, **(self.members or {})}

    def text(self) -> str:
        """The detail and the errors of fields, for formats that have one text."""
        errors = [f"{error.field}: {error.detail}" for error in self.errors]
        says_all = any(error.detail == self.detail for error in self.errors)
        return " ".join(errors if says_all else [self.detail, *errors])

    def response(self) -> Response:
        return Response(
            orjson.dumps(self.body()),
            self.status,
            media_type="application/problem+json",
            headers=self.headers,
        )


def rate_limited(subject: str, retry_s: int) -> Problem:
    return Problem(
        429,
        "too-many-requests",
        f"Too many {subject}. Retry after the seconds in the header Retry-After.",
        headers={"Retry-After": str(max(1, retry_s))},
    )


def malformed_request(detail: str) -> Problem:
    return Problem(400, "malformed-request", detail)


def headers_too_large(bytes_max: int, headers_max: int) -> Problem:
    detail = f"The head exceeds {bytes_max:,} bytes or {headers_max:,} headers. Send fewer headers."
    return Problem(431, "headers-too-large", detail)


def url_too_long(bytes_max: int) -> Problem:
    detail = f"The URL exceeds {bytes_max:,} bytes. Send a shorter one."
    return Problem(414, "url-too-long", detail)


def head_too_slow() -> Problem:
    detail = "The head of the request did not arrive in time. Send it faster."
    return Problem(408, "request-timeout", detail)


def body_too_slow() -> Problem:
    detail = "The body of the request arrived too slowly. Send it faster."
    return Problem(408, "request-timeout", detail)


def overloaded() -> Problem:
    detail = "The gateway is overloaded. Retry after the seconds in the header Retry-After."
    return Problem(503, "overloaded", detail, headers=_RETRY)


def invalid(errors: Sequence[FieldError]) -> Problem:
    fields = ", ".join(error.field for error in errors)
    return Problem(422, "invalid-field", f"Correct {fields}.", errors)


def invalid_field(field: str, detail: str) -> Problem:
    return invalid([FieldError(field, detail)])


def malformed(detail: str) -> Problem:
    return Problem(400, "malformed-body", detail)


def too_large(bytes_max: int) -> Problem:
    detail = f"The body exceeds {bytes_max:,} bytes. Send a shorter one."
    errors = [FieldError("body", detail)]
    return Problem(413, "body-too-large", detail, errors)


def answer_too_large(bytes_max: int) -> Problem:
    detail = (
        f"The answer exceeds {bytes_max:,} bytes. Ask for fewer hits (`top_k`), fewer searches at "
        "once, or less of each hit (`metadata`, `expand`, `relations`)."
    )
    return Problem(422, "answer-too-large", detail)


def unsupported_media_type(detail: str) -> Problem:
    return Problem(415, "unsupported-media-type", detail)


def not_configured(detail: str) -> Problem:
    return Problem(501, "not-configured", detail)


def model_unavailable(detail: str, status: int) -> Problem:
    kind = "deadline-exceeded" if status == 504 else "unavailable"
    return Problem(status, kind, f"{detail} Retry.", headers=_RETRY)


def quota_exceeded(excess: Excess, detail: str) -> Problem:
    """The document also has the quota's name, its use and its limit."""
    members = {"quota": excess.quota, "used": excess.used, "limit": excess.limit}
    return Problem(409, "quota-exceeded", detail, members=members)


def budget_exceeded() -> Problem:
    detail = "The tenant's budget of this month is exceeded. Ask the operator to raise it."
    return Problem(402, "budget-exceeded", detail)


def unauthorized(detail: str | None = None) -> Problem:
    """detail: why a web token was refused."""
    return Problem(
        401,
        "unauthorized",
        detail
        or "The key is missing, revoked or expired. Send a valid one: `Authorization: Bearer KEY`.",
        headers={"WWW-Authenticate": 'Bearer realm="nearhit"'},
    )


def issuer_unavailable() -> Problem:
    detail = "The keys of the web token's issuer can't be fetched. Retry in a moment."
    return Problem(503, "unavailable", detail, headers=_RETRY)


def origin_not_allowed() -> Problem:
    detail = "Web pages of this origin may not call it: the operator lists NEARHIT_MCP_ORIGINS."
    return Problem(403, "origin-not-allowed", detail)


def forbidden(detail: str) -> Problem:
    return Problem(403, "forbidden", detail)


def insufficient_scope(scopes: Sequence[str]) -> Problem:
    detail = f"The web token lacks a scope. Log in again for {' '.join(scopes)}."
    return Problem(403, "insufficient-scope", detail)


def groups_omitted(listed: int = 0) -> Problem:
    """listed: the groups of a web token that lists more than are read."""
    reason = (
        f"lists {listed:,} groups, and at most {GROUPS_MAX} are read."
        if listed
        else "does not list its bearer's groups, because there are too many for the identity "
        "provider to send."
    )
    detail = (
        f"The web token {reason} Its administrator can send fewer: in Entra ID, only the groups "
        "that are assigned to the application."
    )
    return Problem(403, "groups-omitted", detail)


def not_found(field: str, detail: str) -> Problem:
    return Problem(404, "not-found", detail, [FieldError(field, detail)])


def conflict(field: str, detail: str) -> Problem:
    return Problem(409, "conflict", detail, [FieldError(field, detail)])


def precondition_failed(header: str, detail: str) -> Problem:
    errors = [FieldError(header, detail)]
    text = f"{detail} Get it again; nothing was written."
    return Problem(412, "precondition-failed", text, errors)


def revision_unknown(detail: str) -> Problem:
    errors = [FieldError("Nearhit-Min-Revision", detail)]
    return Problem(409, "revision-unknown", detail, errors)


def answer_outdated() -> Problem:
    detail = (
        "While the answer was made, a document in it was changed, removed or shared with fewer, or "
        "your rights have changed. Ask again."
    )
    return Problem(409, "answer-outdated", detail, headers=_RETRY)


def from_validation(
    error: ValidationError,
    body: object = field_errors.UNKNOWN_BODY,
    model: type[BaseModel] | None = None,
) -> Problem:
    """A problem with an error per invalid field; 400 if the body was not JSON.

    body, model: as of `field_errors`, where they are at hand. With more than `ERRORS_DESCRIBED_MAX`
    the problem says only how many there are.
    """
    if (count := error.error_count()) > ERRORS_DESCRIBED_MAX:
        return invalid_field("body", f"has {count:,} errors: is it meant for another call?")
    if error.error_count() == 1:
        (only,) = error.errors(include_url=False, include_context=False, include_input=False)
        if only["type"] == "json_invalid":
            return malformed(only["msg"])
    return invalid(field_errors.field_errors(error, body, model, most=_ERRORS_MAX))


_DATABASE_DETAILS = {
    DatabaseCondition.CONNECTIONS: "The database has no free connection. Retry in a moment.",
    DatabaseCondition.FULL: "The database's disk is full; nothing was stored. The operator must "
    "make room.",
    DatabaseCondition.READ_ONLY: "The database is read-only; nothing was stored. A failover may be "
    "under way: retry in a moment.",
    DatabaseCondition.RESTARTING: "The database is starting or stopping. Retry in a moment.",
}


def from_exception(error: Exception, request_id: str) -> Problem:
    """The problem that the caller sees: the end of the error, whose traceback is let go of."""
    if isinstance(error, DatabaseUnavailable) and error.sqlstate is not None:
        log.warning(
            "database", request_id=request_id, sqlstate=error.sqlstate, state=error.condition
        )
    for kind, to_problem in _PROBLEMS.items():
        if isinstance(error, kind):
            problem = to_problem(error)
            break
    else:
        log.error("unhandled_error", request_id=request_id, exc_info=error)
        detail = "An error of the gateway. Report it with the id in the header X-Request-Id."
        problem = Problem(500, "internal", detail)
    tracebacks.release(error)
    return problem


def _unavailable(detail: str, kind: str = "unavailable", status: int = 503) -> Problem:
    return Problem(status, kind, detail, headers=_RETRY)


def _of_database(error: DatabaseUnavailable) -> Problem:
    if error.condition is None:
        return _unavailable("The database is unavailable. Retry in a moment.")
    return _unavailable(_DATABASE_DETAILS[error.condition], error.condition.value)


def _of_saturation(error: Saturated) -> Problem:
    return rate_limited("of the tenant's requests at once", 1) if error.by_itself else overloaded()


def _of_starlette(error: HTTPException) -> Problem:
    if error.status_code == 404:
        return not_found("path", "This path does not exist. See GET /.")
    assert error.status_code == 405, "Starlette raises no other"
    methods = (error.headers or {}).get("Allow", "others")
    detail = f"This path does not have this method; it has {methods}."
    return Problem(405, "method-not-allowed", detail, headers=error.headers)


_PROBLEMS: Mapping[type[Exception], Callable[[Any], Problem]] = {
    Problem: lambda problem: problem,
    ClientDisconnect: lambda _: malformed("The body ended early. Send it whole."),
    DatabaseUnavailable: _of_database,
    DocumentContended: lambda _: _unavailable(
        "Concurrent writes kept changing this document; nothing was stored. Retry.",
        "write-conflict",
    ),
    DocumentTooLong: lambda error: invalid_field(error.field, str(error)),
    EmbeddingUnavailable: lambda _: _unavailable(
        "The embedder is unavailable; nothing was stored. Retry."
    ),
    GroupHeld: lambda error: conflict("subject", str(error)),
    HTTPException: _of_starlette,
    PayloadTooLarge: lambda error: too_large(error.bytes_max),
    PublishingRefused: lambda error: forbidden(str(error)),
    QueueFull: lambda _: _unavailable(
        "The tenant's job queue is full; nothing was queued. Retry later.", "queue-full"
    ),
    QuotaExceeded: lambda error: quota_exceeded(error.excess, str(error)),
    RightsLost: lambda _: unauthorized(),
    Saturated: _of_saturation,
    SourceReserved: lambda error: conflict("source", str(error)),
    SubjectSuspended: lambda error: conflict("subject", str(error)),
    TenantFull: lambda error: Problem(409, "limit-reached", str(error)),
    TenantMissing: lambda _: not_found("tenant", "The tenant has been deleted."),
    TimeoutError: lambda _: _unavailable(
        "The deadline has passed. Retry, or make the request smaller.", "deadline-exceeded", 504
    ),
    TokensFull: lambda error: Problem(409, "limit-reached", str(error)),
    UnstorableText: lambda _: invalid_field("request", "must not hold the character U+0000"),
    VectorRefused: lambda error: invalid_field(error.field, str(error)),
}


async def render(request: Request, error: Exception) -> Response:
    return from_exception(error, request.scope["trace"].request_id).response()
