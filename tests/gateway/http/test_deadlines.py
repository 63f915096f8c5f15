import asyncio
import time

import pytest

from gateway.http.deadlines import TICK_S, Deadlines

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


async def test_of_two_one_in_the_other_the_sooner_ends(deadlines: Deadlines) -> None:
    with deadlines.timeout(10):
        with pytest.raises(TimeoutError), deadlines.timeout(0.02):
            await asyncio.sleep(10)
        await asyncio.sleep(0)

    with pytest.raises(TimeoutError), deadlines.timeout(0.02), deadlines.timeout(10):
        await asyncio.sleep(10)
