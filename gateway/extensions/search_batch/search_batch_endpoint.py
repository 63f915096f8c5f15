"""`POST /v1/search/batch`: many searches in one call, all answered at one revision."""

from functools import partial

from starlette.responses import Response

from common.shares.turns import map_in_steps
from gateway.extension import (
    BATCH_SEARCHES_MAX,
    RawResponse,
    RequestContext,
    SearchServices,
    cache_status,
    freshness_of,
    is_recallable,
    problems,
    record_served,
    require_within_limits,
    strictest,
)
from gateway.extensions._batches.answers_headers import answers_headers
from gateway.extensions._batches.held_answers import HeldAnswers
from gateway.extensions._batches.one_revision import search_consistently
from gateway.extensions.search_batch.search_batch_schemas import SearchBatchBody
from index.errors import VectorRefused

_NO_CONVERSATIONS = "a search with history or a gate needs a call of its own"


async def search_batch(context: RequestContext[SearchServices]) -> Response:
    services, trace = context.services, context.trace
    body = await context.parse_body(SearchBatchBody)
    if len(body.searches) > BATCH_SEARCHES_MAX:
        raise problems.invalid_field("searches", f"must be at most {BATCH_SEARCHES_MAX:,}")
    requested = []
    for number, search in enumerate(body.searches):
        require_within_limits(search, f"searches.{number}.")
        if search.is_conversational:
            raise problems.invalid_field(f"searches.{number}", _NO_CONVERSATIONS)
        requested.append(freshness_of(search, context.min_revision, f"searches.{number}."))
    trace.mark("parse")
    admitted = await context.authenticate(freshness=strictest(requested))
    await context.spend(len(body.searches) - 1)
    request_of = partial(services.request_of, admitted.principal)
    requests = await map_in_steps(request_of, body.searches)
    for number, request in enumerate(requests):
        services.require_answerable(request, f"searches.{number}.")
    trace.mark("revision")
    revisions = admitted.oldest  # only answers from memory may be as old as the caller allows
    if not all(is_recallable(services, request, admitted) for request in requests):
        revisions = admitted.revisions
    held = HeldAnswers(context.slot)
    try:
        answers = await search_consistently(services, requests, revisions, held)
    except VectorRefused as error:
        number = [request.query.vector for request in requests].index(error.vector)
        raise problems.invalid_field(f"searches.{number}.{error.field}", str(error)) from None
    for request, answer in zip(requests, answers, strict=True):
        record_served(services, request, answer)
    trace.mark("search")
    encoded = b'{"answers":[%b]}' % b",".join(answer.body for answer in answers)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(encoded)).encode()),
        (b"cache-control", b"no-store"),
    ]
    headers += answers_headers(
        context,
        answers,
        admitted,
        # A member of Cache-Status stands for a cache on the response's way, not for an answer.
        (b"nearhit-batch-cache-status", b", ".join(map(cache_status, answers))),
        (b"server-timing", trace.server_timing().encode()),
    )
    return RawResponse(encoded, headers)
