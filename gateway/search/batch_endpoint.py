"""`POST /v1/search/batch`: many searches in one call, all answered at one revision.

Of two correct answers one may be cached from before a commit and one computed after it. The older
one is then requested again, until all are of one revision. If writers commit faster than that, all
answers are computed from one snapshot.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar

from starlette.responses import Response

from cache.answers import ComputedAnswer, ServedAnswer
from cache.protocol import Revisions
from gateway import problems
from gateway.auth.authenticator import AuthenticatedRequest
from gateway.auth.freshness import revision_header, strictest
from gateway.http.request_context import RequestContext
from gateway.http.responses import RawResponse, cache_headers
from gateway.search.answer_service import get_or_compute, record_served
from gateway.search.response_body import build_answer, search_index
from gateway.search.response_headers import cache_status, degraded_header
from gateway.search.search_request import (
    SearchRequest,
    freshness_of,
    require_received,
    require_within_limits,
)
from gateway.search.search_schemas import SearchBatchBody
from gateway.search.search_services import SearchServices
from index.search.searcher import SearchResult

T = TypeVar("T")

_ROUNDS_MAX = 4  # each but the first follows a commit during the one before; a starting value
_NO_CONVERSATIONS = "a search with history or a gate needs a call of its own"
_CONNECTIONS_SHARE = 2  # a batch uses at most one in so many of a worker's connections


async def search_batch(context: RequestContext[SearchServices]) -> Response:
    services, trace = context.services, context.trace
    settings = services.settings
    body = context.parse_body(SearchBatchBody)
    if len(body.searches) > settings.batch_searches_max:
        raise problems.invalid_field("searches", f"must be at most {settings.batch_searches_max:,}")
    requested = []
    for number, search in enumerate(body.searches):
        require_within_limits(search, settings, f"searches.{number}.")
        if search.is_conversational:
            raise problems.invalid_field(f"searches.{number}", _NO_CONVERSATIONS)
        requested.append(freshness_of(search, context.min_revision, f"searches.{number}."))
    trace.mark("parse")
    admitted = await context.authenticate(freshness=strictest(requested))
    await context.spend(len(body.searches) - 1)
    requests = [services.request_of(admitted.principal, search) for search in body.searches]
    for number, request in enumerate(requests):
        require_received(request, settings, f"searches.{number}.")
    trace.mark("revision")
    revisions = admitted.oldest  # only answers from memory may be as old as the caller allows
    if not all(services.answers.has_local(one.key, _of(one, revisions)) for one in requests):
        revisions = admitted.revisions
    answers = await search_consistently(services, requests, revisions)
    for request, answer in zip(requests, answers, strict=True):
        record_served(services, request, answer)
    trace.mark("search")
    return _respond(context, answers, admitted)


def _of(request: SearchRequest, revisions: Revisions) -> Revisions:
    return revisions.of(request.scope.partitions)


async def search_consistently(
    services: SearchServices, requests: Sequence[SearchRequest], revisions: Revisions
) -> list[ServedAnswer]:
    """An answer to each, all correct at the same revision of each partition."""
    connections = asyncio.Semaphore(
        max(1, services.settings.database_connections // _CONNECTIONS_SHARE)
    )

    async def answer(request: SearchRequest) -> ServedAnswer:
        async with connections:
            return await get_or_compute(services, request, _of(request, revisions))

    answers: dict[int, ServedAnswer] = {}
    behind = list(range(len(requests)))
    for _ in range(_ROUNDS_MAX):
        answers |= zip(behind, await _gather(answer, [requests[at] for at in behind]), strict=True)
        revisions = _latest(answers.values(), revisions)
        behind = [
            at
            for at, served in answers.items()
            if not served.valid_until.reach(revisions.of(served.valid_until.by_partition))
        ]
        if not behind:
            return [answers[at] for at in range(len(requests))]
    return await _search_in_snapshot(services, requests, revisions.history)


async def _search_in_snapshot(
    services: SearchServices, requests: Sequence[SearchRequest], history: str
) -> list[ServedAnswer]:
    """The answers computed one after the other on one connection; none is cached."""
    results: dict[str, SearchResult] = {}
    distinct = {request.key: request for request in requests}
    async with services.database.searching.snapshot(requests[0].scope.tenant):
        for key, request in distinct.items():
            results[key] = await search_index(
                services.searcher, request.scope, request.query, history
            )
    answers = {
        key: await build_answer(
            results[key],
            request.scope,
            request.query,
            services.rag_tools,
            services.metrics.search,
        )
        for key, request in distinct.items()
    }
    return [_served(answers[request.key]) for request in requests]


def _served(answer: ComputedAnswer) -> ServedAnswer:
    return ServedAnswer(
        answer.body,
        answer.as_of,
        "miss",
        is_complete=answer.is_complete,
        missing_parts=answer.missing_parts,
    )


def _latest(answers: Iterable[ServedAnswer], revisions: Revisions) -> Revisions:
    """The latest revision of each partition; all answers of a request are of one history."""
    latest = dict(revisions.by_partition)
    for answer in answers:
        for name, number in answer.valid_until.by_partition.items():
            latest[name] = max(latest[name], number)
    return Revisions(revisions.history, latest)


def common_revisions(answers: Sequence[ServedAnswer]) -> Revisions:
    """The revisions up to which answers of one revision are correct; there is one at least."""
    revisions = [answer.valid_until for answer in answers]
    numbers = {name: number for one in revisions for name, number in one.by_partition.items()}
    return Revisions(revisions[0].history, numbers)


async def _gather(
    work: Callable[[SearchRequest], Coroutine[Any, Any, T]], requests: Sequence[SearchRequest]
) -> list[T]:
    """The result of each; if one fails, the others are cancelled."""
    tasks = [asyncio.create_task(work(request)) for request in requests]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


def _respond(
    context: RequestContext[SearchServices],
    answers: Sequence[ServedAnswer],
    admitted: AuthenticatedRequest,
) -> Response:
    revisions = common_revisions(answers)
    body = b'{"answers":[%b]}' % b",".join(answer.body for answer in answers)
    hits = sum(answer.tier != "miss" for answer in answers)
    outcome = b"hit" if hits == len(answers) else b"fwd=miss"
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *cache_headers(
            context.http.settings,
            (b"cache-status", b'nearhit; %b; detail="%d of %d"' % (outcome, hits, len(answers))),
            # A member of Cache-Status stands for a cache on the response's way, not for an answer.
            (b"nearhit-batch-cache-status", b", ".join(cache_status(answer) for answer in answers)),
            (b"server-timing", context.trace.server_timing().encode()),
        ),
        (b"nearhit-revision", revision_header(revisions, admitted.principal.tenant)),
        (b"nearhit-consistency", admitted.kept_promise(revisions)),
        (b"cache-control", b"no-store"),
    ]
    headers += next(filter(None, map(degraded_header, answers)), [])
    return RawResponse(body, headers)
