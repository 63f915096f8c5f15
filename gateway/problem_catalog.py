"""What each problem type means and what to do about it, for callers and for the reference.

`tests/docs/test_problems.py` compares the list with the problems that the gateway makes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

PREFIX = "urn:nearhit:problem:"


@dataclass(frozen=True, slots=True)
class ProblemType:
    """statuses: with which it occurs. cause, remedy: sentences for the caller's developer."""

    kind: str
    statuses: tuple[int, ...]
    title: str
    cause: str
    remedy: str

    @property
    def urn(self) -> str:
        return PREFIX + self.kind


TYPES: Sequence[ProblemType] = (
    ProblemType(
        "malformed-body",
        (400,),
        "Malformed body",
        "The body is not JSON or not the form that its type says, or it ended early.",
        "Correct the body; `detail` says where it cannot be read.",
    ),
    ProblemType(
        "malformed-request",
        (400,),
        "Malformed request",
        "The request is not valid HTTP, for example its head or its path.",
        "Use an HTTP client that writes the head, or correct what `detail` names.",
    ),
    ProblemType(
        "unauthorized",
        (401,),
        "Unauthorized",
        "The request has no key, or one that is unknown, revoked or expired; or a web token that "
        "is not valid.",
        "Send `Authorization: Bearer KEY` with a valid key. An admin creates keys with "
        "`POST /v1/keys`.",
    ),
    ProblemType(
        "budget-exceeded",
        (402,),
        "Budget exceeded",
        "The tenant has used up its budget for models of this month.",
        "Wait for the next month, or ask the operator to raise the budget with "
        "`PUT /v1/tenants/{tenant}/budget`.",
    ),
    ProblemType(
        "forbidden",
        (403,),
        "Forbidden",
        "The key is valid and may not do this: it lacks a role or a scope, or the document belongs "
        "to another owner.",
        "Use a key with the role that `detail` names, or ask the owner or an admin.",
    ),
    ProblemType(
        "insufficient-scope",
        (403,),
        "Insufficient scope",
        "The web token lacks a scope that `/mcp` needs.",
        "Log in again and ask for the scopes of the header `WWW-Authenticate`.",
    ),
    ProblemType(
        "groups-omitted",
        (403,),
        "Groups omitted",
        "The web token leaves its bearer's groups out, because they are too many, or lists more "
        "than are read. An answer without them would look complete, and lack documents.",
        "Have the identity provider send fewer groups: in Entra ID, those that are assigned to the "
        "application.",
    ),
    ProblemType(
        "origin-not-allowed",
        (403,),
        "Origin not allowed",
        "A web page calls `/mcp`, and the operator has not listed its origin.",
        "Ask the operator to add the origin to `NEARHIT_MCP_ORIGINS`.",
    ),
    ProblemType(
        "not-found",
        (404,),
        "Not found",
        "The path or the thing that it names does not exist, or the caller may not see it.",
        "Check the path in `/openapi.json` and the identifier. An admin's "
        "`GET /v1/documents/{document_id}/access/explain` tells why a document is not seen.",
    ),
    ProblemType(
        "method-not-allowed",
        (405,),
        "Method not allowed",
        "The path exists without this method.",
        "Use a method of the header `Allow`.",
    ),
    ProblemType(
        "request-timeout",
        (408,),
        "Request timeout",
        "The head or the body of the request arrived too slowly.",
        "Send the request at once; send a large body over a better line or in parts.",
    ),
    ProblemType(
        "conflict",
        (409,),
        "Conflict",
        "The thing exists already, or its state does not allow the change; `errors` names the "
        "field.",
        "Choose another identifier, or read the present state and decide again.",
    ),
    ProblemType(
        "limit-reached",
        (409,),
        "Limit reached",
        "The tenant or the subject has as many of these as it may have.",
        "Remove some, or do what `detail` says.",
    ),
    ProblemType(
        "quota-exceeded",
        (409,),
        "Quota exceeded",
        "The write would take the tenant beyond a quota; `quota`, `used` and `limit` name it.",
        "Delete documents, or ask the operator for a higher quota with "
        "`PUT /v1/tenants/{tenant}/quotas`.",
    ),
    ProblemType(
        "answer-outdated",
        (409,),
        "Answer outdated",
        "While the answer was made, a document in it was changed, removed or shared with fewer, or "
        "the caller's rights have changed. Nothing of it, or no more of a text, is sent.",
        "Discard what a stream has sent, and ask again: the next answer is made of what you may "
        "read now.",
    ),
    ProblemType(
        "revision-unknown",
        (409,),
        "Revision unknown",
        "`Nearhit-Min-Revision` names a revision that the database does not hold: it is of another "
        "database or tenant, or was lost by a failover, a restore or a crash.",
        "Leave the header out once, and keep the revision of the answer. If `detail` says that the "
        "revision is lost, write again what is missing.",
    ),
    ProblemType(
        "precondition-failed",
        (412,),
        "Precondition failed",
        "The document is not the one that `If-Match` or `If-None-Match` names, or a queued write "
        "of it waits.",
        "Get the document again, apply the change to it, and send its new `ETag`.",
    ),
    ProblemType(
        "body-too-large",
        (413,),
        "Body too large",
        "The body has more bytes than the call accepts.",
        "Send less: fewer lines of a batch, or a document in parts. The operator sets the limits.",
    ),
    ProblemType(
        "url-too-long",
        (414,),
        "URL too long",
        "The path and the query have more bytes than the gateway accepts.",
        "Send a shorter URL.",
    ),
    ProblemType(
        "unsupported-media-type",
        (415,),
        "Unsupported media type",
        "`Content-Type` names a type that the call does not read, or the body is compressed.",
        "Send the type that the reference names, uncompressed.",
    ),
    ProblemType(
        "invalid-field",
        (422,),
        "Invalid field",
        "A field of the body, a parameter or a header has a value that is not allowed, or is "
        "unknown.",
        "Correct the fields that `errors` lists.",
    ),
    ProblemType(
        "answer-too-large",
        (422,),
        "Answer too large",
        "The hits have more bytes together than one response may have.",
        "Ask for fewer hits (`top_k`), for fewer searches at once, or without `metadata`, "
        "`expand` or `relations`.",
    ),
    ProblemType(
        "too-many-requests",
        (429,),
        "Too many requests",
        "The key or the tenant has spent its rate or has too many requests in progress, or the "
        "address has sent too many failing requests.",
        "Wait for the seconds of `Retry-After`. The header `RateLimit` tells what is left.",
    ),
    ProblemType(
        "headers-too-large",
        (431,),
        "Request headers too large",
        "The head of the request has too many bytes or too many headers.",
        "Send fewer or shorter headers.",
    ),
    ProblemType(
        "internal",
        (500,),
        "Internal error",
        "The gateway has an error of its own.",
        "Report it to the operator with the id in the header `X-Request-Id`, by which the log has "
        "the cause.",
    ),
    ProblemType(
        "not-configured",
        (501,),
        "Not configured",
        "The operator has not configured what the call needs, such as a language model.",
        "Ask the operator to set what `detail` names.",
    ),
    ProblemType(
        "database-connections",
        (503,),
        "Temporarily unavailable",
        "PostgreSQL has no free connection.",
        "Retry after a moment. The operator compares `max_connections` with "
        "`NEARHIT_DATABASE_CONNECTIONS` of all processes.",
    ),
    ProblemType(
        "database-full",
        (503,),
        "Temporarily unavailable",
        "The disk of PostgreSQL is full; nothing was stored.",
        "Retry later. The operator has to make room.",
    ),
    ProblemType(
        "database-read-only",
        (503,),
        "Temporarily unavailable",
        "PostgreSQL accepts no writes, for example during a failover; nothing was stored.",
        "Retry after a moment. The operator checks that `NEARHIT_DATABASE_URL` leads to the "
        "primary.",
    ),
    ProblemType(
        "database-restarting",
        (503,),
        "Temporarily unavailable",
        "PostgreSQL is starting or stopping.",
        "Retry after a moment.",
    ),
    ProblemType(
        "overloaded",
        (503,),
        "Temporarily unavailable",
        "The worker has as many requests in progress as it may have.",
        "Retry after the seconds of `Retry-After`. The operator adds workers or gateways.",
    ),
    ProblemType(
        "queue-full",
        (503,),
        "Temporarily unavailable",
        "As many jobs of the tenant, or bytes of them, wait as may wait; nothing was queued.",
        "Retry when jobs are done. The operator runs more workers.",
    ),
    ProblemType(
        "unavailable",
        (503,),
        "Temporarily unavailable",
        "PostgreSQL, the embedder, a language model or the keys of an issuer cannot be reached.",
        "Retry after the seconds of `Retry-After`; nothing was stored.",
    ),
    ProblemType(
        "write-conflict",
        (503,),
        "Temporarily unavailable",
        "Other writers kept changing the document; nothing was stored.",
        "Retry, and let fewer writers write one document at a time.",
    ),
    ProblemType(
        "deadline-exceeded",
        (504,),
        "Deadline exceeded",
        "The request took longer than `Request-Timeout` or the gateway's own deadline.",
        "Retry, ask for less, or send a longer `Request-Timeout`.",
    ),
)

BY_KIND: Mapping[str, ProblemType] = {each.kind: each for each in TYPES}


def kind_of_status(status: int) -> ProblemType:
    """The first type that occurs with the status, which is the most general one."""
    return next(each for each in TYPES if status in each.statuses)
