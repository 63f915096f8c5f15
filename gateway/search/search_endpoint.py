"""`POST /v1/search`: from a request's body to an answer that its caller may see.

`gateway.http.endpoint` has checked the head, the caller and the body before. Then:

parse → authenticate → look up in memory → look up in Redis → search the index → fill → respond

A new question to shards is searched first: its statement returns what `authenticate` would read. A
repeat begins with `authenticate`, and is looked up in memory alone; see `gateway.http.repeats`.
"""

import time
from dataclasses import dataclass
from functools import partial

from starlette.responses import Response

from cache.lookup import ServedAnswer
from cache.protocol import Revisions
from gateway import schemas
from gateway.auth.authenticator import AuthenticatedRequest
from gateway.http.request_context import RequestContext
from gateway.http.responses import RawResponse, cache_headers
from gateway.http.telemetry import Trace
from gateway.receipts.receipt import RECEIPT_PREFERENCE
from gateway.search.answer_service import (
    get_local,
    get_or_compute,
    record_served,
    search_at_once,
)
from gateway.search.response_headers import Header, response_headers
from gateway.search.schemas.search_schemas import SearchBody
from gateway.search.search_request import (
    SearchRequest,
    freshness_of,
    require_received,
    require_within_limits,
)
from gateway.search.search_services import SearchServices
from gateway.settings.settings import Settings
from index.search.searcher import SearchResult


@dataclass(frozen=True, slots=True)
class AnsweredSearch:
    """An answer, the search that it answers, and the promise that it keeps."""

    request: SearchRequest
    answer: ServedAnswer
    consistency: bytes


async def search(context: RequestContext[SearchServices]) -> Response:
    services, key = context.services, (context.digest, context.body)
    request = services.parsed_request(key, context.principal)
    if request is None:
        body = schemas.parse(SearchBody, context.body)
        require_within_limits(body, services.settings)
        if body.is_conversational:
            return await _search_conversation(context, body)
        request = services.request_of(context.principal, body)
        # Agents repeat requests byte for byte.
        services.parsed_searches.put(request.scope.tenant, key, request)
    context.trace.mark("parse")
    answered = await serve(context, services, request)
    request = answered.request
    freshness = freshness_of(request.body, context.min_revision)
    receipt = await _receipt(context, answered)
    if not receipt:  # a repeat is answered at once, and gets none
        context.remember(request.principal, partial(_answer_again, services, request), freshness)
    return build_response(services.settings, context.trace, answered, *receipt)


async def _receipt(
    context: RequestContext[SearchServices], answered: AnsweredSearch
) -> list[Header]:
    """The header with the receipt of this response, if the caller asks for one."""
    issuer = context.services.receipts
    if issuer is None or not (
        b"prefer" in context.trace.headers and context.prefers(RECEIPT_PREFERENCE)
    ):
        return []
    receipt = await issuer.issue(context.body, answered.request, answered.answer)
    return [(b"nearhit-receipt", receipt.encode())]


def _answer_again(
    services: SearchServices, request: SearchRequest, trace: Trace, admitted: AuthenticatedRequest
) -> Response | None:
    """The response to a repeat of the request, if memory has it and the caller is unchanged."""
    if admitted.principal is not request.principal:  # its grants may differ
        return None
    trace.mark("revision")
    answer = get_local(services, request, admitted)
    if answer is None:
        return None
    _record(services, trace, request, answer)
    answered = AnsweredSearch(request, answer, admitted.kept_promise(answer.valid_until))
    return build_response(services.settings, trace, answered)


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
    receipt = await _receipt(context, answered)
    headers = [*interpreted.headers, *receipt]
    return build_response(services.settings, context.trace, answered, *headers)


async def search_as_caller(
    context: RequestContext[object], services: SearchServices, body: SearchBody
) -> AnsweredSearch:
    """The answer to the search, for the caller as it is by now."""
    return await serve(context, services, services.request_of(await context.identify(), body))


async def serve(
    context: RequestContext[object], services: SearchServices, request: SearchRequest
) -> AnsweredSearch:
    """The answer, for the caller's keys and groups as of now; a 422 `Problem` if refused."""
    trace = context.trace
    freshness = freshness_of(request.body, context.min_revision)
    may_confirm = context.http.authenticator.may_confirm_at(request.principal, freshness)
    # Else the rate limits, or the tenant's choice of what to receive, may refuse the request.
    if may_confirm and not trace.unspent and not request.asks_in_vain:
        answer = await search_at_once(services, request, partial(_is_confirmed, context, request))
        if answer is not None:
            _record(services, trace, request, answer)
            return AnsweredSearch(request, answer, b"strong")
    admitted = await context.authenticate(request.principal, freshness)
    if admitted.principal is not request.principal:
        request = services.request_of(admitted.principal, request.body)
    require_received(request, services.settings)
    trace.mark("revision")
    answer = get_local(services, request, admitted)
    if answer is None:  # only an answer from memory may be as old as the caller allows
        answer = await get_or_compute(services, request, _revisions(request, admitted.revisions))
    _record(services, trace, request, answer)
    return AnsweredSearch(request, answer, admitted.kept_promise(answer.valid_until))


def _is_confirmed(
    context: RequestContext[object], request: SearchRequest, result: SearchResult
) -> bool:
    return context.http.authenticator.confirm_at(
        request.principal, result.history, result.access_revision
    )


def _record(
    services: SearchServices, trace: Trace, request: SearchRequest, answer: ServedAnswer
) -> None:
    record_served(services, request, answer, time.perf_counter() - trace.started_s)
    trace.tier = answer.tier
    trace.mark("cache" if answer.tier != "miss" else "search")
    if services.settings.log_queries:
        trace.query = request.query.text


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


def _revisions(request: SearchRequest, revisions: Revisions) -> Revisions:
    return revisions.of(request.scope.partitions)
