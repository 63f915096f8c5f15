"""Several searches, all answered at one revision.

Of two correct answers one may be cached from before a commit and one computed after it. The older
one is then requested again, until all are of one revision. If writers commit faster than that, all
answers are computed from one snapshot.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from cache.lookup import ServedAnswer
from cache.protocol import Revisions
from gateway.extension import SearchRequest, SearchServices, get_or_compute
from gateway.extensions._batches.held_answers import HeldAnswers

Search: TypeAlias = Callable[[SearchRequest], Awaitable[ServedAnswer]]
Work: TypeAlias = Coroutine[Any, Any, None]

_ROUNDS_MAX = 4  # each but the first follows a commit during the one before; a starting value
_CONNECTIONS_SHARE = 2  # one call uses at most one in so many of a worker's connections


@dataclass(frozen=True, slots=True)
class SearchRound:
    """One attempt to answer all searches of a call at one revision.

    search:  answers one of them.
    run_all: runs work that searches: all of it at once, or in its order in a snapshot. If some of
        it fails, the rest is cancelled.
    """

    search: Search
    run_all: Callable[[Iterable[Work]], Awaitable[None]]


class ConsistentSearches:
    """The searches of one call, whose answers are all correct at one revision.

    revisions: which each answer reaches at least.
    """

    def __init__(self, services: SearchServices, tenant: str, revisions: Revisions) -> None:
        self._services = services
        self._tenant = tenant
        self._revisions = revisions
        self._answers: dict[str, ServedAnswer] = {}  # of the round, by the requests' own keys
        connections = services.settings.database_connections // _CONNECTIONS_SHARE
        self._connections = asyncio.Semaphore(max(1, connections))

    async def run(self, ask: Callable[[SearchRound], Awaitable[None]]) -> None:
        """Let `ask` begin anew, round by round, until the answers of one round agree."""
        for _ in range(_ROUNDS_MAX):
            await ask(SearchRound(self._recorded(self._get_or_compute()), _run_at_once))
            if all(map(self.agrees, self._answers.values())):
                return
        async with self._services.stores.database.searching.snapshot(self._tenant):
            await ask(SearchRound(self._recorded(self._search_snapshot), _run_in_order))

    def agrees(self, answer: ServedAnswer) -> bool:
        """Whether the answer is correct at the latest revision that any has reached."""
        latest = self._revisions.of(answer.valid_until.by_partition)
        return answer.valid_until.reach(latest.without_audiences())

    def _recorded(self, search: Search) -> Search:
        """The same for a new round, whose answers and revisions are recorded."""
        answers = self._answers = dict[str, ServedAnswer]()

        async def recorded(request: SearchRequest) -> ServedAnswer:
            answer = answers.setdefault(request.own_key, await search(request))
            self._revisions = _latest_revisions(answer, self._revisions)
            return answer

        return recorded

    def _get_or_compute(self) -> Search:
        """Answers as any search, but for what the round before has answered and still agrees."""
        known = {key: answer for key, answer in self._answers.items() if self.agrees(answer)}

        async def search(request: SearchRequest) -> ServedAnswer:
            answer = known.get(request.own_key)
            if answer is not None and self.agrees(answer):
                return answer
            async with self._connections:
                needed = self._revisions.of(request.scope.partitions)
                return await get_or_compute(self._services, request, needed)

        return search

    async def _search_snapshot(self, request: SearchRequest) -> ServedAnswer:
        """The answer on the snapshot's connection; it is not cached."""
        services, scope, query = self._services, request.scope, request.query
        result = await services.searcher.search(scope, query, history=self._revisions.history)
        answer = await services.builder.build(result, scope, query)
        return ServedAnswer.of_computed(request.own_key, answer)


async def search_consistently(
    services: SearchServices,
    requests: Sequence[SearchRequest],
    revisions: Revisions,
    held: HeldAnswers,
) -> list[ServedAnswer]:
    """An answer to each, all correct at the same revision of each partition; `held` counts them."""
    answers: dict[int, ServedAnswer] = {}

    async def ask(searches: SearchRound) -> None:
        while answers:
            held.release(answers.popitem()[1].body)
        await searches.run_all(answer(searches, number) for number in range(len(requests)))

    async def answer(searches: SearchRound, number: int) -> None:
        served = await searches.search(requests[number])
        held.hold(served.body)
        answers[number] = served

    await ConsistentSearches(services, requests[0].scope.tenant, revisions).run(ask)
    return [answers[number] for number in range(len(requests))]


def _latest_revisions(answer: ServedAnswer, revisions: Revisions) -> Revisions:
    """The later revision of each partition; all answers of a call are of one history."""
    latest, audiences = dict(revisions.by_partition), dict(revisions.audiences)
    for name, number in answer.valid_until.by_partition.items():
        if number > latest[name]:
            latest[name] = number
            audiences.pop(name, None)
            if name in answer.valid_until.audiences:
                audiences[name] = answer.valid_until.audiences[name]
    return Revisions(revisions.history, latest, audiences)


async def _run_at_once(works: Iterable[Work]) -> None:
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        while tasks:  # the failure's traceback holds this frame, and each task its result
            tasks.pop().cancel()


async def _run_in_order(works: Iterable[Work]) -> None:
    for work in works:
        await work
