"""Many searches in one call: as whoever asks is now, and all answered at one revision.

An answer that was computed after somebody's commit, and one that was cached before it, are each
right, and not of one revision: whichever is behind is asked for again, until none is. Where others
write faster than that, all are computed from one snapshot.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar

from starlette.responses import Response

from cache.answers import ComputedAnswer, ServedAnswer
from cache.protocol import Revisions
from gateway import problems
from gateway.auth.authenticator import AuthenticatedRequest
from gateway.http.request_context import RequestContext
from gateway.search.answer_service import get_or_compute, record_served
from gateway.search.response_body import build_answer, search_index
from gateway.search.search_endpoint import (
    RawResponse,
    cache_status,
    degraded_header,
    revision_of,
    to_search_request,
)
from gateway.search.search_request import SearchRequest, require_within_limits
from gateway.search.search_schemas import SearchBatchBody
from gateway.services import Services
from index.search.searcher import SearchResult

T = TypeVar("T")

_TURNS_MAX = 4  # each but the first takes a commit during the last; a starting value
_NO_MESSAGES = "a message, with history or a gate, is understood by a call of its own"
_SHARE = 2  # of a worker's connections to PostgreSQL, a batch leaves others all but one in so many


async def search_batch(exchange: RequestContext) -> Response:
    services, trace = exchange.services, exchange.trace
    settings = services.settings
    asked = exchange.parse_body(SearchBatchBody)
    if len(asked.searches) > settings.searches_max:
        raise problems.invalid_field("searches", f"must be at most {settings.searches_max:,}")
    for place, each in enumerate(asked.searches):
        require_within_limits(each, settings, f"searches.{place}.")
        if each.is_conversational:
            raise problems.invalid_field(f"searches.{place}", _NO_MESSAGES)
    trace.mark("parse")
    staleness_s = min(each.max_staleness_ms for each in asked.searches) / 1000
    admitted = await exchange.authenticate(max_staleness_s=staleness_s)
    await services.admission.spend(trace.counters, len(asked.searches) - 1)
    wanted = _wanted(exchange, admitted, asked)
    trace.mark("revision")
    revisions = admitted.oldest  # only answers that are known already may be old
    if not all(services.answers.has_local(each.key, _of(each, revisions)) for each in wanted):
        revisions = admitted.revisions
    served = await search_consistently(services, wanted, revisions)
    for one, answer in zip(wanted, served, strict=True):
        record_served(services, one, answer)
    trace.mark("search")
    return _respond(exchange, served, admitted.principal.tenant)


def _wanted(
    exchange: RequestContext, admitted: AuthenticatedRequest, asked: SearchBatchBody
) -> list[SearchRequest]:
    return [to_search_request(exchange, admitted.principal, each) for each in asked.searches]


def _of(wanted: SearchRequest, revisions: Revisions) -> Revisions:
    return revisions.of(wanted.scope.partitions)


async def search_consistently(
    services: Services, wanted: Sequence[SearchRequest], revisions: Revisions
) -> list[ServedAnswer]:
    """An answer to each, all of them right at the same revision of each partition."""
    at_once = asyncio.Semaphore(max(1, services.settings.database_connections // _SHARE))

    async def one(each: SearchRequest) -> ServedAnswer:
        async with at_once:
            return await get_or_compute(services, each, revisions.of(each.scope.partitions))

    served: dict[int, ServedAnswer] = {}
    behind = list(range(len(wanted)))
    for _ in range(_TURNS_MAX):
        served |= zip(behind, await _together(one, [wanted[at] for at in behind]), strict=True)
        revisions = _latest(served.values(), revisions)
        behind = [
            at
            for at, answer in served.items()
            if not answer.valid_until.reach(revisions.of(answer.valid_until.by_partition))
        ]
        if not behind:
            return [served[at] for at in range(len(wanted))]
    return await _search_in_snapshot(services, wanted, revisions.history)


async def _search_in_snapshot(
    services: Services, wanted: Sequence[SearchRequest], history: str
) -> list[ServedAnswer]:
    """One after the other, on one connection; nothing of it is cached."""
    found: dict[str, SearchResult] = {}
    async with services.database.searching.snapshot(wanted[0].scope.tenant):
        for each in wanted:
            if each.key not in found:
                found[each.key] = await search_index(
                    services.searcher, each.scope, each.query, history
                )
    made = {
        each.key: await build_answer(found[each.key], each.scope, each.query, services.rag_tools)
        for each in {each.key: each for each in wanted}.values()
    }
    return [_computed(made[each.key]) for each in wanted]


def _computed(made: ComputedAnswer) -> ServedAnswer:
    return ServedAnswer(
        made.body,
        made.as_of,
        "miss",
        is_complete=made.is_complete,
        missing_parts=made.missing_parts,
    )


def _latest(served: Iterable[ServedAnswer], revisions: Revisions) -> Revisions:
    """The latest of each partition; all that a request is served is of one history."""
    latest = dict(revisions.by_partition)
    for answer in served:
        for name, number in answer.valid_until.by_partition.items():
            latest[name] = max(latest[name], number)
    return Revisions(revisions.history, latest)


def good_of(served: Iterable[ServedAnswer]) -> Revisions:
    """The revisions that answers at one revision are right at, of which there is one at least."""
    each = [answer.valid_until for answer in served]
    numbers = {name: number for good in each for name, number in good.by_partition.items()}
    return Revisions(each[0].history, numbers)


async def _together(
    work: Callable[[SearchRequest], Coroutine[Any, Any, T]], wanted: Sequence[SearchRequest]
) -> list[T]:
    """What came of each; once one has failed, the others are left."""
    tasks = [asyncio.create_task(work(each)) for each in wanted]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


def _respond(exchange: RequestContext, served: Sequence[ServedAnswer], tenant: str) -> Response:
    body = b'{"answers":[%b]}' % b",".join(each.body for each in served)
    hits = sum(each.tier != "miss" for each in served)
    whole = b"hit" if hits == len(served) else b"fwd=miss"
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *exchange.cache_headers(
            (b"cache-status", b'nearhit; %b; detail="%d of %d"' % (whole, hits, len(served))),
            # Members of Cache-Status itself are caches on the way of a response, not answers of it.
            (b"nearhit-answers", b", ".join(cache_status(each) for each in served)),
            (b"server-timing", exchange.trace.server_timing().encode()),
        ),
        (b"nearhit-revision", revision_of(good_of(served), tenant)),
        (b"cache-control", b"no-store"),
    ]
    headers += next(filter(None, map(degraded_header, served)), [])
    return RawResponse(body, headers)
