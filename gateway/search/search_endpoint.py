"""`POST /v1/search`: from a request's body to an answer that its caller may see.

`gateway.http.endpoint` has checked the head, the caller and the body before. Then:

parse → authenticate → look up in memory → look up in Redis → search the index → fill → respond

A new question to shards is searched first: its statement returns what `authenticate` would read. A
repeat begins with `authenticate`, and is looked up in memory alone; see `gateway.http.repeats`.
"""

from functools import partial

from starlette.responses import Response

from gateway.auth.authenticator import AuthenticatedRequest
from gateway.http.request_context import RequestContext
from gateway.http.responses import RawResponse, cache_headers
from gateway.http.telemetry import Trace
from gateway.receipts.receipt import RECEIPT_PREFERENCE
from gateway.search.pipeline import (
    AnsweredSearch,
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
from gateway.settings.settings import Settings


async def search(context: RequestContext[SearchServices]) -> Response:
    services = context.services
    request = services.parser.parse(context.principal, context.body)
    if request.body.is_conversational:
        return await _search_conversation(context, request.body)
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
    answer = recall(services, request, admitted)
    if answer is None:
        return None
    record_traced(services, trace, request, answer)
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
