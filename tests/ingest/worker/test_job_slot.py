"""Turns of a job: when it lends its slot, and what its limit of time counts."""

import asyncio

import pytest

from ingest.worker import job_slot
from ingest.worker.job_slot import JobSlot

pytestmark = pytest.mark.anyio

TURN_S = 0.05


class OneSlot:
    """It comes back when it is told to. done: what the job did."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.is_free = asyncio.Event()

    def leave(self, _: int) -> bool:
        self.done.append("left")
        return True

    def lend(self, _: int) -> None:
        self.done.append("lent")

    async def take_back(self, _: int) -> None:
        self.done.append("waits")
        await self.is_free.wait()
        self.done.append("back")


async def test_a_part_that_takes_longer_than_the_turn_goes_on_without_the_slot() -> None:
    slot, may_end = OneSlot(), asyncio.Event()
    slot.is_free.set()

    with job_slot.held(JobSlot(slot, 1, TURN_S)):
        part = asyncio.create_task(job_slot.in_turns(may_end.wait()))
        while not slot.done:
            await asyncio.sleep(0)
        lent = [*slot.done]
        may_end.set()
        assert await part

    assert lent == ["lent"]
    assert slot.done == ["lent", "waits", "back"]


async def test_within_its_turn_and_after_it_has_left_a_job_lends_nothing() -> None:
    slot = OneSlot()

    with job_slot.held(JobSlot(slot, 1, 3_600)):
        assert await job_slot.in_turns(asyncio.sleep(0, "part")) == "part"
    with job_slot.held(JobSlot(slot, 1, 0)):
        job_slot.leave()
        job_slot.leave()
        await job_slot.in_turns(asyncio.sleep(0))

    assert slot.done == ["left"]
    assert await job_slot.in_turns(asyncio.sleep(0, "no job")) == "no job"


async def test_the_wait_for_a_slot_does_not_count_for_the_limit() -> None:
    slot = OneSlot()

    with job_slot.held(JobSlot(slot, 1, 0)):
        async with job_slot.timeout(TURN_S) as limit:
            part = asyncio.create_task(asyncio.sleep(2 * TURN_S))
            part.add_done_callback(lambda _: slot.is_free.set())
            await job_slot.in_turns(asyncio.sleep(0))
            counted_s = (limit.when() or 0.0) - asyncio.get_running_loop().time()

    assert slot.done == ["lent", "waits", "back"]
    assert 0 < counted_s < TURN_S + 1e-6


async def test_work_beyond_the_limit_ends_with_it() -> None:
    ended = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with job_slot.held(JobSlot(OneSlot(), 1, 3_600)), pytest.raises(TimeoutError):
        async with job_slot.timeout(TURN_S):
            await job_slot.in_turns(work())

    assert ended.is_set()
