import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import pytest
from structlog.typing import EventDict

from cache.singleflight import Singleflight
from common.shares.turns import FairTurns, take_turns
from gateway.http.deadlines import TICK_S, Deadlines
from index.errors import DatabaseUnavailable

pytestmark = pytest.mark.anyio


@pytest.fixture
async def deadlines() -> Deadlines:
    return Deadlines()


async def test_what_takes_too_long_ends_with_a_timeout_soon_after(deadlines: Deadlines) -> None:
    started_s = time.monotonic()

    with pytest.raises(TimeoutError), deadlines.timeout(0.05):
        await asyncio.sleep(10)

    assert 0.045 <= time.monotonic() - started_s < 0.05 + 10 * TICK_S
    await asyncio.sleep(0)  # and the task goes on uncancelled


async def test_what_goes_on_although_it_was_cancelled_is_cancelled_again() -> None:
    async def work() -> None:
        for _ in range(3):  # as a failure in the place of the cancellation does
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(10)
        await asyncio.sleep(10)

    with pytest.raises(TimeoutError), Deadlines(again_s=0.03).timeout(0.02):
        await work()

    await asyncio.sleep(0)  # and the task goes on uncancelled


async def test_what_ends_in_time_is_left_alone_also_later(deadlines: Deadlines) -> None:
    with deadlines.timeout(0.02):
        await asyncio.sleep(0)

    await asyncio.sleep(0.02 + 3 * TICK_S)


async def test_each_of_many_has_its_own_end(deadlines: Deadlines) -> None:
    async def worked(seconds: float, *, within_s: float) -> bool:
        try:
            with deadlines.timeout(within_s):
                await asyncio.sleep(seconds)
        except TimeoutError:
            return False
        return True

    ended = await asyncio.gather(
        *(worked(0.1, within_s=0.04 if number % 2 else 5.0) for number in range(100))
    )

    assert ended == [number % 2 == 0 for number in range(100)]


async def test_whoever_cancels_the_task_is_not_taken_for_the_deadline(
    deadlines: Deadlines,
) -> None:
    async def work() -> None:
        with deadlines.timeout(10):
            await asyncio.sleep(10)

    task = asyncio.create_task(work())
    await asyncio.sleep(0.01)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_cancelled_task_stays_so_if_its_deadline_passes_too(deadlines: Deadlines) -> None:
    async def work() -> None:
        with deadlines.timeout(0.01):
            try:
                await asyncio.sleep(10)
            finally:
                await asyncio.sleep(5 * TICK_S)

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_error_of_the_body_is_its_own(deadlines: Deadlines) -> None:
    async def work() -> None:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            raise ValueError("of the body") from None

    with pytest.raises(ValueError, match="of the body"), deadlines.timeout(0.01):
        await work()


async def test_a_statement_that_postgres_ends_as_the_deadline_passes_is_late(
    deadlines: Deadlines,
) -> None:
    with pytest.raises(TimeoutError), deadlines.timeout(0):  # before the timer has noticed
        raise DatabaseUnavailable


async def test_a_statement_that_postgres_ends_once_its_task_is_cancelled_is_late(
    deadlines: Deadlines,
) -> None:
    async def ask() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise DatabaseUnavailable from None

    with pytest.raises(TimeoutError), deadlines.timeout(0.01):
        await ask()


async def test_a_database_that_is_unavailable_before_the_deadline_is_told_as_such(
    deadlines: Deadlines,
) -> None:
    with pytest.raises(DatabaseUnavailable), deadlines.timeout(10):
        raise DatabaseUnavailable


async def test_of_two_one_in_the_other_the_sooner_ends(deadlines: Deadlines) -> None:
    with deadlines.timeout(10):
        with pytest.raises(TimeoutError), deadlines.timeout(0.02):
            await asyncio.sleep(10)
        await asyncio.sleep(0)

    with pytest.raises(TimeoutError), deadlines.timeout(0.02), deadlines.timeout(10):
        await asyncio.sleep(10)


@asynccontextmanager
async def acquired(lock: asyncio.Lock) -> AsyncIterator[None]:
    async with lock:
        yield


async def compute(lock: asyncio.Lock) -> None:
    async with acquired(lock):
        pass


async def test_the_log_says_where_the_late_task_waits_through_shared_work(
    deadlines: Deadlines, logs: list[EventDict]
) -> None:
    lock, flights = asyncio.Lock(), Singleflight[None]()
    await lock.acquire()

    with pytest.raises(TimeoutError), deadlines.timeout(0.02):
        await asyncio.gather(flights.do("key", lambda: compute(lock)), asyncio.sleep(0))
    with pytest.raises(TimeoutError), deadlines.timeout(0.02):  # within a second of the first
        await asyncio.sleep(10)

    (line,) = logs
    assert (line["event"], line["seconds"], line["log_level"]) == ("deadline", 0.02, "warning")
    waits = [each.rpartition(":")[0] or each for each in line["waits"]]
    expected = ["cache.singleflight:Singleflight.do", f"{__name__}:compute", f"{__name__}:acquired"]
    places = [waits.index(each) for each in expected]
    assert places == sorted(places)
    assert waits[-2:] == ["asyncio.locks:Lock.acquire", "Future"]


async def test_a_test_that_fails_shows_where_its_late_requests_waited(
    deadlines: Deadlines, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(TimeoutError), deadlines.timeout(0.02):
        await asyncio.sleep(10)

    (line,) = capfd.readouterr().out.splitlines()
    assert '"event":"deadline"' in line
    assert "asyncio.tasks:sleep" in line


async def test_the_log_says_where_other_tasks_wait(
    deadlines: Deadlines, logs: list[EventDict]
) -> None:
    lock = asyncio.Lock()
    async with lock:
        others = [asyncio.create_task(compute(lock)) for _ in range(3)]
        with pytest.raises(TimeoutError), deadlines.timeout(0.02):
            await asyncio.sleep(10)
    await asyncio.gather(*others)

    # Tests before may have left tasks that wait elsewhere.
    ((place, tasks),) = (item for item in logs[0]["others"].items() if __name__ in item[0])
    assert tasks == 3
    assert "asyncio.locks:Lock.acquire" in place


async def test_the_log_says_that_a_late_task_waits_for_its_turn(
    deadlines: Deadlines, logs: list[EventDict]
) -> None:
    with pytest.raises(TimeoutError), deadlines.timeout(0.02):
        await FairTurns().turn("acme", "")

    assert logs[0]["waits"][-1] == "Turn"


@dataclass(frozen=True)
class Taker:
    turns: FairTurns
    tenant: str = "acme"
    client: str = ""


async def test_the_log_says_for_how_long_a_late_request_has_waited(
    deadlines: Deadlines, logs: list[EventDict]
) -> None:
    async def ask() -> None:
        with deadlines.timeout(0.1):
            await asyncio.sleep(0)
            await asyncio.Event().wait()

    async def serve() -> None:
        await take_turns(Taker(FairTurns()), ask())

    with pytest.raises(TimeoutError):
        await asyncio.create_task(serve())

    assert logs[0]["waited_ms"] >= 50


async def test_a_client_that_is_late_is_not_logged(
    deadlines: Deadlines, logs: list[EventDict]
) -> None:
    with pytest.raises(LookupError), deadlines.timeout(10) as deadline:  # noqa: PT012
        deadline.restart(0.02, LookupError)
        await asyncio.sleep(10)

    assert logs == []
