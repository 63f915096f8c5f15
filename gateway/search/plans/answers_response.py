"""The response whose body holds several answers of one revision."""

from collections.abc import Sequence

from starlette.responses import Response

from cache.lookup import ServedAnswer
from cache.protocol import Revisions
from gateway.auth.authenticator import AuthenticatedRequest
from gateway.auth.freshness import revision_header
from gateway.http.request_context import RequestContext
from gateway.http.responses import RawResponse, cache_headers
from gateway.search.response_headers import Header, degraded_header


def answers_response(
    context: RequestContext[object],
    body: bytes,
    answers: Sequence[ServedAnswer],
    admitted: AuthenticatedRequest,
    revisions: Revisions,
    *details: Header,
) -> Response:
    """revisions: of all answers. details: tell how they were made, if the settings allow it."""
    return RawResponse(
        body,
        [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            *answers_headers(context, answers, admitted, revisions, *details),
        ],
    )


def answers_headers(
    context: RequestContext[object],
    answers: Sequence[ServedAnswer],
    admitted: AuthenticatedRequest,
    revisions: Revisions,
    *details: Header,
) -> list[Header]:
    """The headers about the answers, without those of the body."""
    hits = sum(answer.tier != "miss" for answer in answers)
    outcome = b"hit" if hits == len(answers) else b"fwd=miss"
    cache_status = b'nearhit; %b; detail="%d of %d"' % (outcome, hits, len(answers))
    return [
        *cache_headers(context.http.settings, (b"cache-status", cache_status), *details),
        (b"nearhit-revision", revision_header(revisions, admitted.principal.tenant)),
        (b"nearhit-consistency", admitted.kept_promise(revisions)),
        (b"cache-control", b"no-store"),
        *next(filter(None, map(degraded_header, answers)), []),
    ]
