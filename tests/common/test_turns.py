"""Turns of tenants at the event loop."""

import asyncio
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

import pytest

from common.shares.turns import FairTurns, make_task, take_turns

pytestmark = pytest.mark.anyio

STEP_S = 0.0005


@dataclass
class Taker:
    turns: FairTurns
    tenant: str


async def work(steps: int, tenant: str, done: list[str]) -> None:
    for _ in range(steps):
        until_s = time.perf_counter() + STEP_S
        while time.perf_counter() < until_s:
            pass
        await asyncio.sleep(0)
    done.append(tenant)


async def test_a_tenant_with_much_to_do_lets_another_one_step_in_between() -> None:
    turns, done = FairTurns(), list[str]()

    async def request(tenant: str) -> None:
        await take_turns(Taker(turns, tenant), work(10, tenant, done))

    busy = [asyncio.create_task(request("acme")) for _ in range(100)]
    await asyncio.sleep(0.02)
    other = asyncio.create_task(request("beta"))
    await asyncio.gather(other, *busy)

    # Both had half of the time from then on; in the order of readiness it would come with the last.
    assert done.index("beta") < 25
    assert done.count("acme") == 100


async def test_tasks_that_a_request_makes_take_its_turns() -> None:
    turns, done = FairTurns(), list[str]()
    loop = asyncio.get_running_loop()

    async def request(tenant: str, tasks: int) -> None:
        await asyncio.gather(*(work(10, tenant, done) for _ in range(tasks)))

    async def taking_turns(tenant: str, tasks: int) -> None:
        await take_turns(Taker(turns, tenant), request(tenant, tasks))

    before = loop.get_task_factory()
    loop.set_task_factory(make_task)
    try:
        busy = asyncio.create_task(taking_turns("acme", 100))
        await asyncio.sleep(0.02)
        await asyncio.create_task(taking_turns("beta", 1))
        assert done.count("acme") < 25
        await busy
    finally:
        loop.set_task_factory(before)


async def test_who_had_nothing_to_do_is_not_owed_that_time() -> None:
    turns, done = FairTurns(), list[str]()
    await take_turns(Taker(turns, "beta"), work(1, "", []))
    await take_turns(Taker(turns, "acme"), work(200, "", []))

    def requests(tenant: str) -> list[Coroutine[Any, Any, None]]:
        return [take_turns(Taker(turns, tenant), work(10, tenant, done)) for _ in range(20)]

    await asyncio.gather(*requests("acme"), *requests("beta"))

    assert "acme" in done[:20]
    assert "beta" in done[:30]


async def test_what_waits_for_its_turn_can_be_cancelled_and_costs_no_turn() -> None:
    turns, done = FairTurns(), list[str]()

    async def request(tenant: str) -> None:
        await take_turns(Taker(turns, tenant), work(10, tenant, done))

    busy = [asyncio.create_task(request("acme")) for _ in range(50)]
    await asyncio.sleep(0.01)
    for task in busy[:49]:
        task.cancel()
    await asyncio.wait(busy)

    assert all(task.cancelled() for task in busy[:49])
    assert done == ["acme"]


async def test_an_exception_comes_out_as_it_is_and_a_cancelled_one_can_clean_up() -> None:
    turns, cleaned = FairTurns(), list[str]()

    async def fails() -> None:
        await asyncio.sleep(0)
        raise ValueError("as it is")

    async def cleans() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            cleaned.append("up")

    async def request() -> None:
        await take_turns(Taker(turns, "acme"), cleans())

    with pytest.raises(ValueError, match="as it is"):
        await take_turns(Taker(turns, "acme"), fails())
    task = asyncio.create_task(request())
    await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait([task])

    assert task.cancelled()
    assert cleaned == ["up"]


async def test_a_step_that_learns_for_whom_it_works_is_charged_to_who_had_the_turn() -> None:
    turns, done = FairTurns(), list[str]()

    async def stranger() -> None:
        taker = Taker(turns, "")

        async def learns() -> None:
            until_s = time.perf_counter() + STEP_S
            while time.perf_counter() < until_s:
                pass
            taker.tenant = "acme"
            await asyncio.sleep(0)
            done.append("acme")

        await take_turns(taker, learns())

    async def known() -> None:
        await take_turns(Taker(turns, "beta"), work(10, "beta", done))

    strangers = [asyncio.create_task(stranger()) for _ in range(400)]
    await asyncio.sleep(0.01)
    await asyncio.gather(asyncio.create_task(known()), *strangers)

    assert done.index("beta") < 100
