"""Many searches in one call: as whoever asks is now, and all answered at one revision.

An answer that was computed after somebody's commit, and one that was cached before it, are each
right, and not of one revision: whichever is behind is asked for again, until none is. Where others
write faster than that, all are computed from one snapshot.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar

from starlette.responses import Response

from cache.answers import Computed, Served
from cache.protocol import Revisions
from gateway import problems
from gateway.auth.authenticator import Admitted
from gateway.http.request_context import Exchange
from gateway.search.answer_service import answered, note
from gateway.search.response_body import computed, find
from gateway.search.search_endpoint import Ready, cache_status, degraded, meant, revision_of
from gateway.search.search_request import Wanted, check_limits
from gateway.search.search_schemas import SearchBatchBody
from gateway.services import Services
from index.search.searcher import Found

T = TypeVar("T")

_TURNS_MAX = 4  # each but the first takes a commit during the last; a starting value
_NO_MESSAGES = "a message, with history or a gate, is understood by a call of its own"
_SHARE = 2  # of a worker's connections to PostgreSQL, a batch leaves others all but one in so many


async def search_batch(exchange: Exchange) -> Response:
    services, trace = exchange.services, exchange.trace
    settings = services.settings
    asked = exchange.parse(SearchBatchBody)
    if len(asked.searches) > settings.searches_max:
        raise problems.invalid_field("searches", f"must be at most {settings.searches_max:,}")
    for place, each in enumerate(asked.searches):
        check_limits(each, settings, f"searches.{place}.")
        if each.is_said:
            raise problems.invalid_field(f"searches.{place}", _NO_MESSAGES)
    trace.mark("parse")
    staleness_s = min(each.max_staleness_ms for each in asked.searches) / 1000
    admitted = await exchange.admit(max_staleness_s=staleness_s)
    await services.load.spend(trace.counters, len(asked.searches) - 1)
    wanted = _wanted(exchange, admitted, asked)
    trace.mark("revision")
    revisions = admitted.oldest  # only answers that are known already may be old
    if not all(services.answers.is_known(each.key, _of(each, revisions)) for each in wanted):
        revisions = admitted.revisions
    served = await at_one_revision(services, wanted, revisions)
    for one, answer in zip(wanted, served, strict=True):
        note(services, one, answer)
    trace.mark("search")
    return _respond(exchange, served, admitted.principal.tenant)


def _wanted(exchange: Exchange, admitted: Admitted, asked: SearchBatchBody) -> list[Wanted]:
    return [meant(exchange, admitted.principal, each) for each in asked.searches]


def _of(wanted: Wanted, revisions: Revisions) -> Revisions:
    return revisions.of(wanted.scope.partitions)


async def at_one_revision(
    services: Services, wanted: Sequence[Wanted], revisions: Revisions
) -> list[Served]:
    """An answer to each, all of them right at the same revision of each partition."""
    at_once = asyncio.Semaphore(max(1, services.settings.database_connections // _SHARE))

    async def one(each: Wanted) -> Served:
        async with at_once:
            return await answered(services, each, revisions.of(each.scope.partitions))

    served: dict[int, Served] = {}
    behind = list(range(len(wanted)))
    for _ in range(_TURNS_MAX):
        served |= zip(behind, await _together(one, [wanted[at] for at in behind]), strict=True)
        revisions = _latest(served.values(), revisions)
        behind = [
            at
            for at, answer in served.items()
            if not answer.good.reach(revisions.of(answer.good.by_partition))
        ]
        if not behind:
            return [served[at] for at in range(len(wanted))]
    return await _at_one_instant(services, wanted, revisions.history)


async def _at_one_instant(
    services: Services, wanted: Sequence[Wanted], history: str
) -> list[Served]:
    """One after the other, on one connection; nothing of it is cached."""
    found: dict[str, Found] = {}
    async with services.database.searching.snapshot(wanted[0].scope.tenant):
        for each in wanted:
            if each.key not in found:
                found[each.key] = await find(services.searcher, each.scope, each.query, history)
    made = {
        each.key: await computed(found[each.key], each.scope, each.query, services.assisting)
        for each in {each.key: each for each in wanted}.values()
    }
    return [_computed(made[each.key]) for each in wanted]


def _computed(made: Computed) -> Served:
    return Served(made.body, made.as_of, "miss", whole=made.whole, lacks=made.lacks)


def _latest(served: Iterable[Served], revisions: Revisions) -> Revisions:
    """The latest of each partition; all that a request is served is of one history."""
    latest = dict(revisions.by_partition)
    for answer in served:
        for name, number in answer.good.by_partition.items():
            latest[name] = max(latest[name], number)
    return Revisions(revisions.history, latest)


def good_of(served: Iterable[Served]) -> Revisions:
    """The revisions that answers at one revision are right at, of which there is one at least."""
    each = [answer.good for answer in served]
    numbers = {name: number for good in each for name, number in good.by_partition.items()}
    return Revisions(each[0].history, numbers)


async def _together(
    work: Callable[[Wanted], Coroutine[Any, Any, T]], wanted: Sequence[Wanted]
) -> list[T]:
    """What came of each; once one has failed, the others are left."""
    tasks = [asyncio.create_task(work(each)) for each in wanted]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


def _respond(exchange: Exchange, served: Sequence[Served], tenant: str) -> Response:
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
    headers += next(filter(None, map(degraded, served)), [])
    return Ready(body, headers)
