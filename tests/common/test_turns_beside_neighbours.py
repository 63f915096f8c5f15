"""What a request takes beside a tenant that keeps the event loop busy, in virtual time.

A step takes its processor time, and what lies between steps a millisecond, whatever else the
machine does: the figures are those of the turns alone.
"""

import asyncio
import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import pytest

from common.shares.turns import FairTurns, take_turns

pytestmark = pytest.mark.anyio

REQUESTS = 60
EVERY_S = 0.05
STEPS_S = (0.0004,) * 6
WAIT_S = 0.001


@dataclass
class Taker:
    turns: FairTurns
    tenant: str
    client: str


class VirtualTime:
    """Goes on by steps, and to the end of the next wait once no step is left."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.turns = FairTurns(lambda: self.now_s, lambda: self.now_s)
        self._waits: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = count()
        self._stepped_at_s = 0.0
        self._idle_iterations = 0
        self._tick()

    async def wait(self, seconds: float) -> None:
        ended = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waits, (self.now_s + seconds, next(self._numbers), ended))
        await ended

    async def request(self, taker: Taker, steps_s: Sequence[float]) -> float:
        """How long it takes."""

        async def steps() -> None:
            for seconds in steps_s:
                self.now_s += seconds
                await self.wait(WAIT_S)

        begun_s = self.now_s
        await take_turns(taker, steps())
        return self.now_s - begun_s

    def _tick(self) -> None:
        is_idle = self._stepped_at_s == self.now_s
        self._idle_iterations = self._idle_iterations + 1 if is_idle else 0
        if self._idle_iterations > 6 and self._waits:  # as many as a turn takes
            self.now_s = max(self.now_s, self._waits[0][0])
            self._idle_iterations = 0
        self._stepped_at_s = self.now_s
        while self._waits and self._waits[0][0] <= self.now_s:
            ended = heapq.heappop(self._waits)[2]
            if not ended.done():
                ended.set_result(None)
        self.ticking = asyncio.get_running_loop().call_soon(self._tick)


async def p90_s(
    neighbours: int,
    steps_s: Sequence[float],
    *,
    tenant: str = "beta",
    neighbour: str = "acme",
    every_second: float = 0.0,
) -> float:
    """The 90th percentile of a tenant's requests while its neighbour has so many under way.

    every_second: seconds of a further step, just before each second request.
    """
    time = VirtualTime()

    async def busy() -> None:
        while True:
            await time.request(Taker(time.turns, neighbour, "192.0.2.1"), steps_s)

    async def measured(number: int) -> float:
        await time.wait(number * EVERY_S)
        if number % 2:
            time.turns.charge(tenant, every_second)
        return await time.request(Taker(time.turns, tenant, "192.0.2.2"), STEPS_S)

    tasks = [asyncio.create_task(busy()) for _ in range(neighbours)]
    taken_s = await asyncio.gather(*map(measured, range(REQUESTS)))
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    time.ticking.cancel()
    return sorted(taken_s)[REQUESTS * 9 // 10]


async def test_a_request_beside_many_short_steps_takes_at_most_twice_as_long() -> None:
    alone_s = await p90_s(0, ())

    assert await p90_s(128, STEPS_S) < 2 * alone_s
    assert await p90_s(16, [0.0015] * 20) < 2 * alone_s


async def test_the_first_request_of_a_connection_waits_for_few_of_another_address() -> None:
    alone_s = await p90_s(0, ())

    assert await p90_s(500, STEPS_S, tenant="", neighbour="") < 4 * alone_s


async def test_what_follows_a_tenants_long_step_waits_no_longer_for_that() -> None:
    """A write of 8 ms now and then is less than half of the time, and so are the searches."""
    alone_s = await p90_s(0, ())

    assert await p90_s(128, STEPS_S, every_second=0.008) < 2 * alone_s
