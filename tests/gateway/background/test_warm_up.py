"""After the start a worker loads its parts one at a time, whatever becomes of one of them."""

import asyncio

import pytest

from gateway.background.warm_up import WarmUp

pytestmark = pytest.mark.anyio
WAIT_S_MAX = 120.0


class Parts:
    """Parts that end when they are let; `started` has the names of those that have begun."""

    def __init__(self, *names: str) -> None:
        self.started: list[str] = []
        self.ends = {name: asyncio.Event() for name in names}
        self.changed = asyncio.Condition()

    async def load(self, name: str) -> None:
        async with self.changed:
            self.started.append(name)
            self.changed.notify_all()
        await self.ends[name].wait()
        if name == "broken":
            raise OSError("no such part")

    def warm_up(self, ended: asyncio.Event) -> WarmUp:
        async def end() -> None:
            ended.set()

        loads = {name: lambda name=name: self.load(name) for name in self.ends}
        return WarmUp({**loads, "last": end})

    async def until_started(self, names: list[str]) -> None:
        async with asyncio.timeout(WAIT_S_MAX), self.changed:
            await self.changed.wait_for(lambda: self.started == names)


async def test_parts_are_loaded_one_after_the_other_and_then_the_worker_is_warm() -> None:
    parts, ended = Parts("first", "second"), asyncio.Event()
    warm_up = parts.warm_up(ended)

    async with warm_up.running():
        await parts.until_started(["first"])
        assert not warm_up.is_done
        parts.ends["first"].set()
        await parts.until_started(["first", "second"])
        parts.ends["second"].set()
        await asyncio.wait_for(ended.wait(), WAIT_S_MAX)
        await asyncio.sleep(0)  # the last part has returned

    assert warm_up.is_done


async def test_a_part_that_fails_leaves_the_others_and_the_worker_is_not_warm() -> None:
    parts, ended = Parts("broken", "second"), asyncio.Event()
    warm_up = parts.warm_up(ended)
    for event in parts.ends.values():
        event.set()

    async with warm_up.running():
        await asyncio.wait_for(ended.wait(), WAIT_S_MAX)
        await asyncio.sleep(0)  # the last part has returned

    assert parts.started == ["broken", "second"]
    assert not warm_up.is_done


async def test_a_worker_that_stops_does_not_wait_for_a_part() -> None:
    parts, ended = Parts("first"), asyncio.Event()
    warm_up = parts.warm_up(ended)

    async with warm_up.running():
        await parts.until_started(["first"])

    assert not ended.is_set()


async def test_a_part_that_an_extension_adds_is_loaded_before_the_others() -> None:
    parts, ended = Parts("first", "second"), asyncio.Event()
    warm_up = parts.warm_up(ended)
    warm_up.add("added", lambda: parts.load("added"))
    parts.ends["added"] = asyncio.Event()

    async with warm_up.running():
        await parts.until_started(["added"])
        for event in parts.ends.values():
            event.set()
        await asyncio.wait_for(ended.wait(), WAIT_S_MAX)

    assert parts.started == ["added", "first", "second"]
