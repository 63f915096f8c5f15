import asyncio

import pytest

from cache.singleflight import Singleflight

pytestmark = pytest.mark.anyio


class Work:
    """Work that ends when it is told to."""

    def __init__(self, outcome: int | Exception) -> None:
        self.begun = self.ended = 0
        self.may_end = asyncio.Event()
        self._outcome = outcome

    async def __call__(self) -> int:
        self.begun += 1
        try:
            await self.may_end.wait()
        finally:
            self.ended += 1
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome


async def callers(flights: Singleflight[int], work: Work, count: int) -> list[asyncio.Task[int]]:
    tasks = [asyncio.create_task(flights.do("key", work)) for _ in range(count)]
    while work.begun == 0:
        await asyncio.sleep(0)
    return tasks


async def test_callers_of_one_key_share_one_piece_of_work() -> None:
    flights, work = Singleflight[int](), Work(7)
    tasks = await callers(flights, work, 5)

    work.may_end.set()

    assert await asyncio.gather(*tasks) == [7] * 5
    assert work.begun == 1
    assert len(flights) == 0


async def test_callers_of_one_key_share_its_failure() -> None:
    flights, work = Singleflight[int](), Work(ValueError("no"))
    tasks = await callers(flights, work, 3)

    work.may_end.set()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)

    assert [type(outcome) for outcome in outcomes] == [ValueError] * 3


async def test_a_caller_that_gives_up_leaves_the_work_to_the_others() -> None:
    flights, work = Singleflight[int](), Work(7)
    first, second = await callers(flights, work, 2)

    first.cancel()
    await asyncio.wait([first])
    work.may_end.set()

    assert await second == 7
    assert work.begun == 1


async def test_work_that_everybody_gave_up_is_ended_and_begun_anew_for_the_next() -> None:
    flights, work = Singleflight[int](), Work(7)
    first, second = await callers(flights, work, 2)

    for each in (first, second):
        each.cancel()
    await asyncio.sleep(0)  # both are told; what they waited for is not over yet
    third = asyncio.create_task(flights.do("key", work))
    await asyncio.wait([first, second])
    work.may_end.set()

    assert await third == 7
    assert work.begun == 2
    assert work.ended == 2
    assert len(flights) == 0


async def test_work_that_fails_when_everybody_has_given_up_is_heard_by_nobody() -> None:
    flights, work = Singleflight[int](), Work(ValueError("nobody hears it"))
    (only,) = await callers(flights, work, 1)

    work.may_end.set()
    only.cancel()
    await asyncio.wait([only])
    for _ in range(3):
        await asyncio.sleep(0)

    assert len(flights) == 0


async def test_a_key_is_worked_on_anew_after_it_has_ended() -> None:
    flights, work = Singleflight[int](), Work(7)
    work.may_end.set()

    await flights.do("key", work)
    await flights.do("key", work)

    assert work.begun == 2
