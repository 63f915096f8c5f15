"""`POST /v1/search`: a body in, an answer that its caller may see out.

`gateway.http.endpoint` has checked the head, the caller and the body, or `gateway.http.known_heads`
knows the head. `gateway.search.pipeline` is the way from the body to the answer.
"""

from dataclasses import dataclass
from functools import partial

from starlette.responses import Response

from gateway.auth.authenticator import AuthenticatedRequest, Authenticator
from gateway.auth.freshness import Freshness, MinRevision
from gateway.http.request_context import RequestContext
from gateway.http.responses import RawResponse, cache_headers
from gateway.http.telemetry import Trace
from gateway.search.pipeline import (
    AnsweredSearch,
    compute_first,
    may_compute_first,
    may_recall,
    recall,
    record_traced,
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


async def search(context: RequestContext[SearchServices]) -> Response:
    services = context.services
    request = services.parser.parse(context.principal, context.body)
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
class _KnownSearch:
    """A search whose head came before: memory may have its answer, or it may be computed first."""

    services: SearchServices
    authenticator: Authenticator
    request: SearchRequest
    freshness: Freshness
    is_in_memory: bool

    def recall(self, trace: Trace, admitted: AuthenticatedRequest) -> Response | None:
        services, request = self.services, self.request
        trace.mark("revision")
        answer = recall(services, request, admitted)
        if answer is None:
            return None
        record_traced(services, trace, request, answer)
        answered = AnsweredSearch(request, answer, admitted.kept_promise(answer.valid_until))
        return build_response(services.settings, trace, answered)

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
    is_in_memory = may_recall(services, request)
    if is_in_memory or may_compute_first(services, authenticator, request, freshness):
        return _KnownSearch(services, authenticator, request, freshness, is_in_memory)
    return None


async def _search_conversation(
    context: RequestContext[SearchServices], body: SearchBody
) -> Response:
    from gateway.search import conversation  # few searches have a history or a gate

    services = context.services
    interpreted = await conversation.interpret(context, services, body)
    context.trace.mark("understand")
    if interpreted.body is None:
        return conversation.closed_response(interpreted)
    answered = await search_as_caller(context, services, interpreted.body)
    headers = [*interpreted.headers, *await _preferred_headers(context, answered)]
    return build_response(services.settings, context.trace, answered, *headers)


def build_response(
    settings: Settings,
    trace: Trace,
    answered: AnsweredSearch,
    *further_headers: Header,
) -> Response:
    body = answered.answer.body
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *response_headers(settings, answered.request, answered.answer, answered.consistency),
        *further_headers,
        *cache_headers(settings, (b"server-timing", trace.server_timing().encode())),
    ]
    return RawResponse(body, headers)
