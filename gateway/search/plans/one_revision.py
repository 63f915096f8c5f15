"""Several searches, all answered at one revision.

Of two correct answers one may be cached from before a commit and one computed after it. The older
one is then requested again, until all are of one revision. If writers commit faster than that, all
answers are computed from one snapshot.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar

from cache.lookup import ServedAnswer
from cache.protocol import Revisions
from gateway.search.answer_bytes import HeldAnswers
from gateway.search.pipeline import get_or_compute
from gateway.search.response_body import build_answer, search_index
from gateway.search.search_request import SearchRequest
from gateway.search.search_services import SearchServices
from index.search.searcher import SearchResult

T = TypeVar("T")

ROUNDS_MAX = 4  # each but the first follows a commit during the one before; a starting value
_CONNECTIONS_SHARE = 2  # one call uses at most one in so many of a worker's connections


def connection_limit(services: SearchServices) -> asyncio.Semaphore:
    """Lets as many searches of one call run at once as it may use connections."""
    return asyncio.Semaphore(max(1, services.settings.database_connections // _CONNECTIONS_SHARE))


async def search_consistently(
    services: SearchServices,
    requests: Sequence[SearchRequest],
    revisions: Revisions,
    held: HeldAnswers,
) -> list[ServedAnswer]:
    """An answer to each, all correct at the same revision of each partition; `held` counts them."""
    connections = connection_limit(services)

    async def answer(request: SearchRequest) -> ServedAnswer:
        async with connections:
            needed = revisions.of(request.scope.partitions)
            served = await get_or_compute(services, request, needed)
        held.hold(served.body)
        return served

    answers: dict[int, ServedAnswer] = {}
    behind = list(range(len(requests)))
    for _ in range(ROUNDS_MAX):
        _release(held, (answers.pop(at) for at in behind if at in answers))
        answers |= zip(behind, await _gather(answer, [requests[at] for at in behind]), strict=True)
        revisions = latest_revisions(answers.values(), revisions)
        behind = [
            at
            for at, served in answers.items()
            if not served.valid_until.reach(
                revisions.of(served.valid_until.by_partition).without_audiences()
            )
        ]
        if not behind:
            return [answers[at] for at in range(len(requests))]
    _release(held, answers.values())
    answers.clear()
    return await _search_in_snapshot(services, requests, revisions.history, held)


async def _search_in_snapshot(
    services: SearchServices, requests: Sequence[SearchRequest], history: str, held: HeldAnswers
) -> list[ServedAnswer]:
    """The answers computed one after the other on one connection; none is cached."""
    results: dict[str, SearchResult] = {}
    distinct = {request.own_key: request for request in requests}
    async with services.stores.database.searching.snapshot(requests[0].scope.tenant):
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
    for request in requests:
        held.hold(answers[request.own_key].body)
    return [
        ServedAnswer.of_computed(request.own_key, answers[request.own_key]) for request in requests
    ]


def _release(held: HeldAnswers, answers: Iterable[ServedAnswer]) -> None:
    for answer in answers:
        held.release(answer.body)


def latest_revisions(answers: Iterable[ServedAnswer], revisions: Revisions) -> Revisions:
    """The latest revision of each partition; all answers of a request are of one history."""
    latest, audiences = dict(revisions.by_partition), dict(revisions.audiences)
    for answer in answers:
        for name, number in answer.valid_until.by_partition.items():
            if number > latest[name]:
                latest[name] = number
                audiences.pop(name, None)
                if name in answer.valid_until.audiences:
                    audiences[name] = answer.valid_until.audiences[name]
    return Revisions(revisions.history, latest, audiences)


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
        while tasks:  # the failure's traceback holds this frame, and each task its result
            tasks.pop().cancel()
