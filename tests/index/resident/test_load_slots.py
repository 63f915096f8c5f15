"""Few partitions are loaded at once, and what is searched most does not wait for the others."""

import asyncio
from collections import Counter

import pytest

from index.resident.building.load_slots import LoadSlots

pytestmark = pytest.mark.anyio


class Loads:
    """Loads that end when they are told to. begun: in their order."""

    def __init__(self, slots: int) -> None:
        self.searches: Counter[str] = Counter()
        self.begun: list[str] = []
        self._slots = LoadSlots(slots, self.searches.__getitem__)
        self._ends: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def begin(self, *partitions: str) -> None:
        for partition in partitions:
            self._ends[partition] = asyncio.Event()
            self._tasks[partition] = asyncio.create_task(self._load(partition))
        await settle()

    async def end(self, partition: str) -> None:
        self._ends[partition].set()
        await self._tasks[partition]
        await settle()

    def cancel(self, partition: str) -> None:
        self._tasks[partition].cancel()

    async def _load(self, partition: str) -> None:
        async with self._slots.slot(partition):
            self.begun.append(partition)
            await self._ends[partition].wait()


async def settle() -> None:
    """Let every task go on that can."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_of_those_that_wait_the_one_that_is_searched_most_is_next() -> None:
    loads = Loads(2)
    await loads.begin("a", "b", "c", "d", "e")
    assert loads.begun == ["a", "b"]

    loads.searches.update({"c": 3, "d": 5, "e": 4})
    await loads.end("a")
    loads.searches.update({"c": 9})
    await loads.end("d")
    await loads.end("b")

    assert loads.begun == ["a", "b", "d", "c", "e"]


async def test_a_slot_of_a_load_that_fails_is_free_again() -> None:
    slots = LoadSlots(1, lambda _partition: 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            async with slots.slot("a"):
                raise ZeroDivisionError


@pytest.mark.parametrize("got_a_slot", [False, True])
async def test_a_load_that_is_cancelled_keeps_no_slot(*, got_a_slot: bool) -> None:
    loads = Loads(1)
    await loads.begin("a", "b", "c")
    loads.searches.update({"b": 2})
    if not got_a_slot:
        loads.cancel("b")
        await loads.end("a")
    else:
        loads._ends["a"].set()  # noqa: SLF001  `b` gets the slot and is cancelled before it runs
        while not loads._tasks["a"].done():  # noqa: SLF001
            await asyncio.sleep(0)
        loads.cancel("b")
        await settle()

    assert loads.begun == ["a", "c"]
    await loads.end("c")
