"""`POST /v1/search`: a body in, an answer that its caller may see out.

`gateway.http.endpoint` has checked the head, the caller and the body, or `gateway.http.known_heads`
knows the head. `gateway.search.pipeline` is the way from the body to the answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from starlette.responses import Response

from cache.lookup import ServedAnswer
from cache.protocol import Revisions
from common.shares.threads import STEP_BYTES_MAX
from gateway.auth.authenticated_request import AuthenticatedRequest
from gateway.auth.authenticator import Authenticator
from gateway.auth.freshness import Freshness, MinRevision
from gateway.http.request.request_context import RequestContext
from gateway.http.responses import RawResponse
from gateway.http.telemetry import Trace
from gateway.search.pipeline import (
    AnsweredSearch,
    compute_first,
    may_compute_first,
    recall,
    record_served,
    search_as_caller,
    serve,
)
from gateway.search.response_headers import Header, response_headers
from gateway.search.schemas.search_schemas import SearchBody
from gateway.search.search_request import (
    SearchRequest,
    freshness_of,
)
from gateway.search.search_services import SearchServices
from gateway.settings.groups.limits import SEARCH_BYTES_MAX
from gateway.settings.settings import Settings
from index.tenants.principals import Principal

_CLOSED = b'{"hits":[],"gate":"closed"}'


async def search(context: RequestContext[SearchServices]) -> Response:
    services = context.services
    parser, principal, body = services.parser, context.principal, context.body
    if len(body) <= STEP_BYTES_MAX:
        request = parser.parse(principal, body)
    else:
        request = await parser.parse_long(context.threads, principal, body)
    if request.body.is_conversational:
        return await _search_conversation(context, request.body)
    context.trace.mark("parse")
    answered = await serve(context, services, request)
    request = answered.request
    preferred = await _preferred_headers(context, answered)
    if not preferred:  # what is answered without this handler gets none
        known = (services, context.http.authenticator, request.principal, context.min_revision)
        context.remember(request.principal, partial(_read_known, *known))
    return build_response(services.settings, context.trace, answered, *preferred)


async def _preferred_headers(
    context: RequestContext[SearchServices], answered: AnsweredSearch
) -> list[Header]:
    """Those of extensions that the caller asks for."""
    if b"prefer" not in context.trace.headers:
        return []
    return [
        await make_header(context.body, answered.request, answered.answer)
        for preference, make_header in context.services.preferred_headers.items()
        if context.prefers(preference)
    ]


@dataclass(frozen=True, slots=True)
class _Recalled:
    """The headers of an answer from memory: those of each answer under this key that is correct
    until these revisions, for the caller at the revisions that it was admitted at.
    """

    admitted: AuthenticatedRequest
    key: str
    valid_until: Revisions
    headers: Sequence[Header]


@dataclass(slots=True)
class _KnownSearch:
    """A search whose head came before: memory may have its answer, or it may be computed first.

    latest: of its last answer from memory.
    """

    services: SearchServices
    authenticator: Authenticator
    request: SearchRequest
    freshness: Freshness
    latest: _Recalled | None = None

    @property
    def is_in_memory(self) -> bool:
        request, entries = self.request, self.services.answers.memory.entries
        for key, _ in request.keys_seen.values():
            if key in entries:
                return True
        return request.own_key in entries

    @property
    def may_be_computed(self) -> bool:
        return may_compute_first(self.services, self.authenticator, self.request, self.freshness)

    def recall(self, trace: Trace, admitted: AuthenticatedRequest) -> Response | None:
        services, latest, answer = self.services, self.latest, None
        trace.mark("revision")
        if latest is not None and latest.admitted is admitted:
            answer = services.answers.recall_same(latest.key, latest.valid_until)
        if answer is None or latest is None:
            answer = recall(services, self.request, admitted)
            if answer is None:
                return None
            latest = self.latest = self._recalled(admitted, answer)
        record_served(services, self.request, answer, trace)
        return _response(services.settings, trace, answer.body, latest.headers)

    def _recalled(self, admitted: AuthenticatedRequest, answer: ServedAnswer) -> _Recalled:
        promise = admitted.kept_promise(answer.valid_until)
        headers = response_headers(self.services.settings, self.request, answer, promise)
        return _Recalled(admitted, answer.key, answer.valid_until, headers)

    async def compute(self, trace: Trace) -> Response | None:
        services = self.services
        trace.mark("parse")
        answered = await compute_first(services, self.authenticator, self.request, trace)
        return None if answered is None else build_response(services.settings, trace, answered)


def _read_known(
    services: SearchServices,
    authenticator: Authenticator,
    principal: Principal,
    min_revision: MinRevision | None,
    body: bytes,
) -> _KnownSearch | None:
    """None if the search has to be answered by this handler."""
    if len(body) > SEARCH_BYTES_MAX:
        return None
    request = services.parser.parse(principal, body)
    if request.body.is_conversational or request.asks_in_vain:
        return None
    freshness = freshness_of(request.body, min_revision)
    return _KnownSearch(services, authenticator, request, freshness)


async def _search_conversation(
    context: RequestContext[SearchServices], body: SearchBody
) -> Response:
    services = context.services
    interpreted = await services.interpret(context, body)
    context.trace.mark("understand")
    if interpreted.body is None:
        response = Response(_CLOSED, media_type="application/json")
        response.raw_headers += [*interpreted.headers, (b"cache-control", b"no-store")]
        return response
    answered = await search_as_caller(context, services, interpreted.body)
    headers = [*interpreted.headers, *await _preferred_headers(context, answered)]
    return build_response(services.settings, context.trace, answered, *headers)


def build_response(
    settings: Settings,
    trace: Trace,
    answered: AnsweredSearch,
    *further_headers: Header,
) -> Response:
    answer = answered.answer
    headers = response_headers(settings, answered.request, answer, answered.consistency)
    return _response(settings, trace, answer.body, (*headers, *further_headers))


def _response(settings: Settings, trace: Trace, body: bytes, headers: Sequence[Header]) -> Response:
    all_headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        *headers,
    ]
    if settings.cache_headers == "on":
        all_headers.append((b"server-timing", trace.server_timing().encode()))
    return RawResponse(body, all_headers)
