"""Everything that goes wrong, as the caller sees it: RFC 9457 problem documents, made here alone.

Problem                 an answer that is not the one asked for, raised anywhere in the gateway
exceptions of `index`   DatabaseUnavailable, EmbeddingUnavailable, GroupHeld, PayloadTooLarge,
                        QueueFull, Saturated, SourceReserved, TenantFull, TenantMissing
exceptions of `ingest`  DocumentContended, DocumentTooLong
TimeoutError            the request's deadline
HTTPException           Starlette's own, for a path or a method that does not exist
ClientDisconnect        Starlette's own, for a body that ended early
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

import orjson
import structlog
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from gateway.logs import KEY_START
from index.errors import (
    DatabaseUnavailable,
    EmbeddingUnavailable,
    GroupHeld,
    PayloadTooLarge,
    QueueFull,
    Saturated,
    SourceReserved,
    TenantFull,
    TenantMissing,
)
from ingest.errors import DocumentContended, DocumentTooLong

_ERRORS_MAX = 20  # of one body's mistakes: enough to mend it, too few to fill a context window
_RETRY = {"Retry-After": "1"}

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one field, by its path: `filter.tags_any.0`."""

    field: str
    detail: str


@dataclass(eq=False)  # not frozen: Python sets the traceback of what is raised
class Problem(Exception):
    """kind names the problem for programs, detail says to a person what to do."""

    status: int
    kind: str
    title: str
    detail: str
    errors: Sequence[FieldError] = ()
    headers: Mapping[str, str] | None = None

    def body(self) -> dict[str, object]:
        document: dict[str, object] = {
            "type": f"urn:nearhit:problem:{self.kind}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
        }
        if self.errors:
            document["errors"] = [
                {"field": error.field, "detail": error.detail} for error in self.errors
            ]
        return document

    def response(self) -> Response:
        return Response(
            orjson.dumps(self.body()),
            self.status,
            media_type="application/problem+json",
            headers=self.headers,
        )


def rate_limited(what: str, retry_s: int) -> Problem:
    return Problem(
        429,
        "too-many-requests",
        "Too many requests",
        f"There are too many {what}. Try again when the header Retry-After says.",
        headers={"Retry-After": str(max(1, retry_s))},
    )


def malformed_request(detail: str) -> Problem:
    return Problem(400, "malformed-request", "The request can't be read", detail)


def head_too_large(bytes_max: int, headers_max: int) -> Problem:
    detail = f"The head may have at most {bytes_max:,} bytes and {headers_max:,} headers."
    return Problem(431, "head-too-large", "The head is too large", detail)


def url_too_long(bytes_max: int) -> Problem:
    detail = f"The URL may have at most {bytes_max:,} bytes."
    return Problem(414, "url-too-long", "The URL is too long", detail)


def head_too_slow() -> Problem:
    return Problem(408, "too-slow", "Too slow", "The head of the request did not come in time.")


def body_too_slow() -> Problem:
    return Problem(408, "too-slow", "Too slow", "The body of the request came too slowly.")


def overloaded() -> Problem:
    detail = "There is too much to do just now. Try again in a moment."
    return Problem(503, "overloaded", "Not available now", detail, headers=_RETRY)


def invalid(errors: Sequence[FieldError]) -> Problem:
    fields = ", ".join(error.field for error in errors)
    return Problem(422, "invalid-field", "A field is not valid", f"Mend {fields}.", errors)


def invalid_field(field: str, detail: str) -> Problem:
    return invalid([FieldError(field, detail)])


def malformed(detail: str) -> Problem:
    return Problem(400, "malformed-body", "The body can't be read", detail)


def too_large(bytes_max: int) -> Problem:
    detail = f"The body may have at most {bytes_max:,} bytes."
    errors = [FieldError("body", detail)]
    return Problem(413, "body-too-large", "The body is too large", detail, errors)


def unsupported_type(detail: str) -> Problem:
    return Problem(415, "unsupported-type", "The body is of another type", detail)


def not_set_up(detail: str) -> Problem:
    return Problem(501, "not-set-up", "Not set up here", detail)


def model_away(detail: str, status: int) -> Problem:
    kind = "deadline" if status == 504 else "unavailable"
    return Problem(status, kind, "No answer was written", f"{detail} Try again.", headers=_RETRY)


def budget_spent() -> Problem:
    detail = "What the tenant may use this month is used up; no language model is asked."
    return Problem(402, "budget-spent", "Nothing left to pay with", detail)


def unauthorized(detail: str | None = None) -> Problem:
    """detail: of a web token that was refused."""
    return Problem(
        401,
        "unauthorized",
        "No valid key",
        detail or "Send a key that is neither revoked nor expired: `Authorization: Bearer KEY`.",
        headers={"WWW-Authenticate": 'Bearer realm="nearhit"'},
    )


def issuer_away() -> Problem:
    detail = "The keys of the web token's issuer can't be fetched. Try again in a moment."
    return Problem(503, "unavailable", "Not available now", detail, headers=_RETRY)


def foreign_origin() -> Problem:
    detail = "Web pages of this origin may not call this path; NEARHIT_MCP_ORIGINS lists others."
    return Problem(403, "foreign-origin", "The origin is refused", detail)


def forbidden(detail: str) -> Problem:
    return Problem(403, "forbidden", "The key may not do this", detail)


def not_found(field: str, detail: str) -> Problem:
    return Problem(404, "not-found", "There is no such thing", detail, [FieldError(field, detail)])


def conflict(field: str, detail: str) -> Problem:
    return Problem(409, "conflict", "It can't be so", detail, [FieldError(field, detail)])


def from_validation(error: ValidationError) -> Problem:
    """The problem that names each field that pydantic refused; 400 if it was no JSON at all."""
    mistakes = error.errors(include_url=False, include_context=False, include_input=False)
    if mistakes[0]["type"] == "json_invalid":
        return malformed(mistakes[0]["msg"])
    return invalid(
        [
            FieldError(".".join(map(_named, mistake["loc"])) or "body", mistake["msg"])
            for mistake in mistakes[:_ERRORS_MAX]
        ]
    )


def _named(part: int | str) -> str:
    """A field's name, unless somebody has put a key there."""
    return f"{KEY_START}…" if KEY_START in str(part) else str(part)


def from_exception(error: Exception, request_id: str) -> Problem:
    match error:
        case Problem():
            return error
        case DatabaseUnavailable() | EmbeddingUnavailable() | DocumentContended() | QueueFull():
            return _unavailable(error)
        case PayloadTooLarge() | Saturated() | GroupHeld() | SourceReserved() | TenantFull():
            return _refused(error)
        case TenantMissing():
            return not_found("tenant", "There is no such tenant any more.")
        case DocumentTooLong():
            return invalid_field("text", str(error))
        case TimeoutError():
            detail = "The deadline has passed. Try again, or ask for less."
            return Problem(504, "deadline", "Too late", detail, headers=_RETRY)
        case ClientDisconnect():
            return malformed("It ended early.")
        case HTTPException():
            return _from_starlette(error)
        case _:
            log.error("failed", request_id=request_id, exc_info=error)
            detail = "This is a mistake of ours. The request id is in the header X-Request-Id."
            return Problem(500, "internal", "Something broke", detail)


def _refused(
    error: PayloadTooLarge | Saturated | GroupHeld | SourceReserved | TenantFull,
) -> Problem:
    match error:
        case PayloadTooLarge():
            return too_large(error.bytes_max)
        case Saturated():
            return (
                rate_limited("of the tenant's requests at once", 1)
                if error.by_itself
                else overloaded()
            )
        case GroupHeld():
            return conflict("subject", str(error))
        case SourceReserved():
            return conflict("source", str(error))
        case TenantFull():
            return Problem(409, "full", "There are too many", str(error))
        case _:
            assert_never(error)


def _unavailable(
    error: DatabaseUnavailable | EmbeddingUnavailable | DocumentContended | QueueFull,
) -> Problem:
    kind = "unavailable"
    match error:
        case DatabaseUnavailable():
            detail = "The database can't be reached. Try again in a moment."
        case EmbeddingUnavailable():
            detail = "The embedder gives no vectors now; nothing was stored. Try again."
        case DocumentContended():
            kind = "contended"
            detail = "Others kept changing this document; nothing was stored. Try again."
        case QueueFull():
            kind = "queue-full"
            detail = "Too much of the tenant's work waits already; nothing was queued. Try again."
        case _:
            assert_never(error)
    return Problem(503, kind, "Not available now", detail, headers=_RETRY)


def _from_starlette(error: HTTPException) -> Problem:
    if error.status_code == 404:
        return not_found("path", "No call has this path; see /openapi.json.")
    assert error.status_code == 405, "it raises no other"
    detail = "This path has no such method; see /openapi.json."
    return Problem(405, "method-not-allowed", "No such method", detail, headers=error.headers)


async def render(request: Request, error: Exception) -> Response:
    return from_exception(error, request.scope["trace"].request_id).response()
