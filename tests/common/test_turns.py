"""Turns of tenants at the event loop."""

import asyncio
import socket
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

import pytest

from common.shares.turns import (
    FairTurns,
    in_slices,
    long_step,
    make_task,
    map_in_steps,
    take_turns,
)

pytestmark = pytest.mark.anyio

STEP_S = 0.00025


class Clock:
    """Goes on by the steps alone, so that other load on the machine changes no turn.

    waited_s: of it, for a processor.
    """

    def __init__(self) -> None:
        self.now_s = self.waited_s = 0.0
        self.turns = FairTurns(
            lambda: self.now_s, lambda: self.now_s - self.waited_s, tenant_long_steps_max=1
        )

    def step(self, tenant: str, seconds: float, *, waited_s: float = 0.0) -> None:
        """A step that takes so long, of which it waits for a processor."""
        self.now_s += seconds
        self.waited_s += waited_s
        self.turns.charge_step(tenant, seconds)

    def taker(self, tenant: str, client: str = "") -> "Taker":
        return Taker(self.turns, tenant, client)

    async def work(self, steps: int, tenant: str, done: list[str]) -> None:
        for step in range(steps):
            if step:
                await asyncio.sleep(0)
            self.now_s += STEP_S
        done.append(tenant)


@dataclass(eq=False)
class Taker:
    turns: FairTurns
    tenant: str
    client: str


async def begin(task: "asyncio.Task[None]") -> None:
    """Let the event loop go on for some iterations, in which the task does not end."""
    for _ in range(20):
        await asyncio.sleep(0)
    assert not task.done()


async def test_a_tenant_with_much_to_do_lets_another_one_step_in_between() -> None:
    clock, done = Clock(), list[str]()

    async def request(tenant: str) -> None:
        await take_turns(clock.taker(tenant), clock.work(10, tenant, done))

    busy = [asyncio.create_task(request("acme")) for _ in range(100)]
    await begin(busy[-1])
    other = asyncio.create_task(request("beta"))
    await asyncio.gather(other, *busy)

    # Both had half of the time from then on; in the order of readiness it would come with the last.
    assert done.index("beta") < 25
    assert done.count("acme") == 100


async def test_tasks_that_a_request_makes_take_its_turns() -> None:
    clock, done = Clock(), list[str]()
    loop = asyncio.get_running_loop()

    async def request(tenant: str, tasks: int) -> None:
        await asyncio.gather(*(clock.work(10, tenant, done) for _ in range(tasks)))

    async def taking_turns(tenant: str, tasks: int) -> None:
        await take_turns(clock.taker(tenant), request(tenant, tasks))

    before = loop.get_task_factory()
    loop.set_task_factory(make_task)
    try:
        busy = asyncio.create_task(taking_turns("acme", 100))
        await begin(busy)
        await asyncio.create_task(taking_turns("beta", 1))
        assert done.count("acme") < 25
        await busy
    finally:
        loop.set_task_factory(before)


async def test_who_had_nothing_to_do_is_not_owed_that_time() -> None:
    clock, done = Clock(), list[str]()

    async def request(tenant: str, steps: int) -> None:
        await take_turns(clock.taker(tenant), clock.work(steps, tenant, done))

    for tenant, steps in (("beta", 1), ("acme", 200), ("beta", 1)):
        await asyncio.create_task(request(tenant, steps))
    done.clear()
    await asyncio.gather(
        *(request("beta", steps) for steps in range(1, 21)),
        *(request("acme", steps) for steps in range(1, 21)),
    )

    assert "acme" in done[:20]
    assert "beta" in done[:20]


async def test_what_waits_for_its_turn_can_be_cancelled() -> None:
    clock, done = Clock(), list[str]()

    async def request(tenant: str) -> None:
        await take_turns(clock.taker(tenant), clock.work(10, tenant, done))

    busy = [asyncio.create_task(request("acme")) for _ in range(50)]
    await begin(busy[-1])
    for task in busy[:49]:
        task.cancel()
    await asyncio.wait(busy)

    assert all(task.cancelled() for task in busy[:49])
    assert done == ["acme"]


async def test_many_that_are_cancelled_at_once_take_turns_to_end() -> None:
    clock, done = Clock(), list[str]()

    async def ends_late() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            clock.now_s += STEP_S
            done.append("acme")

    async def request(tenant: str, work: Coroutine[Any, Any, None]) -> None:
        await take_turns(clock.taker(tenant), work)

    late = [asyncio.create_task(request("acme", ends_late())) for _ in range(200)]
    await begin(late[-1])
    await asyncio.sleep(0)
    for task in late:
        task.cancel()
    await asyncio.create_task(request("beta", clock.work(5, "beta", done)))
    await asyncio.wait(late)

    assert done.index("beta") < 50
    assert all(task.cancelled() for task in late)
    assert done.count("acme") == len(late)


async def test_what_a_cancelled_task_held_is_freed_with_it() -> None:
    clock, held = Clock(), WeakSet[Taker]()

    async def holds(taker: Taker) -> None:
        held.add(taker)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError as error:
            errors = [error]  # as a task group does
            assert errors
            raise

    async def request() -> None:
        await take_turns(clock.taker("beta"), holds(clock.taker("acme")))

    task = asyncio.create_task(request())
    await begin(task)
    assert held
    task.cancel()
    await asyncio.wait([task])
    del task

    assert not held


async def test_an_exception_comes_out_as_it_is_and_a_cancelled_one_can_clean_up() -> None:
    clock, cleaned = Clock(), list[str]()

    async def fails() -> None:
        await asyncio.sleep(0)
        raise ValueError("as it is")

    async def cleans() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            cleaned.append("up")

    async def request(work: Coroutine[Any, Any, None]) -> None:
        await take_turns(clock.taker("acme"), work)

    with pytest.raises(ValueError, match="as it is"):
        await asyncio.create_task(request(fails()))
    task = asyncio.create_task(request(cleans()))
    await begin(task)
    task.cancel()
    await asyncio.wait([task])

    assert task.cancelled()
    assert cleaned == ["up"]


async def test_a_step_that_learns_for_whom_it_works_is_charged_to_who_had_the_turn() -> None:
    clock, done = Clock(), list[str]()

    async def stranger() -> None:
        taker = clock.taker("")

        async def learns() -> None:
            clock.now_s += STEP_S
            taker.tenant = "acme"
            await asyncio.sleep(0)
            done.append("acme")

        await take_turns(taker, learns())

    async def known() -> None:
        await take_turns(clock.taker("beta"), clock.work(10, "beta", done))

    strangers = [asyncio.create_task(stranger()) for _ in range(400)]
    await begin(strangers[-1])
    await asyncio.gather(asyncio.create_task(known()), *strangers)

    assert done.index("beta") < 100


async def test_a_tenant_that_has_used_less_than_those_that_wait_steps_at_once() -> None:
    clock = Clock()
    turns = clock.turns
    waiting = [turns.turn("acme", "") for _ in range(50)]
    clock.step("acme", 8 * STEP_S)
    assert turns.may_step("beta")
    assert not turns.may_step("acme")

    clock.step("beta", 2 * STEP_S)
    assert not turns.may_step("beta")
    await asyncio.wait(waiting[:1])
    assert turns.may_step("beta")


async def test_a_tenant_is_owed_no_more_than_its_credit() -> None:
    clock = Clock()
    waiting = [clock.turns.turn("acme", "") for _ in range(50)]
    assert not clock.turns.may_step("acme")
    clock.step("acme", 1.0)
    await asyncio.wait(waiting[:1])

    clock.step("beta", 0.02)
    assert clock.turns.may_step("beta")
    clock.step("beta", 0.02)
    assert not clock.turns.may_step("beta")


async def test_a_lone_tenant_steps_on_until_another_one_is_there() -> None:
    clock = Clock()
    clock.step("acme", STEP_S)
    clock.now_s += 2
    waiting = [clock.turns.turn("acme", "") for _ in range(5)]
    assert not clock.turns.may_step("acme")
    await asyncio.wait(waiting)
    for _ in range(3):
        await asyncio.sleep(0)

    clock.step("acme", 4 * STEP_S)
    assert clock.turns.may_step("acme")
    clock.step("beta", STEP_S)
    assert not clock.turns.may_step("acme")


async def test_the_longer_steps_are_the_fewer_of_them_run_in_one_iteration() -> None:
    clock = Clock()

    async def steps_of(seconds: float) -> int:
        """How many run in one iteration of the loop at most, once it knows how long they are."""
        waiting = [clock.turns.turn("acme", "") for _ in range(100)]
        assert not clock.turns.may_step("acme")
        before = most = 0
        while not waiting[-1].done():
            await asyncio.sleep(0)
            done = sum(turn.done() for turn in waiting)
            clock.step("acme", (done - before) * seconds)
            most = max(most, done - before) if done > 50 else most
            before = done
        return most

    assert await steps_of(20 * STEP_S) == 1
    assert await steps_of(STEP_S / 100) > 2


async def test_a_tenant_is_not_charged_for_what_its_steps_wait_for_a_processor() -> None:
    clock = Clock()
    waiting = [clock.turns.turn("acme", "") for _ in range(20)]
    assert clock.turns.may_step("beta")
    await asyncio.wait(waiting[:1])

    clock.step("beta", 100 * STEP_S, waited_s=99 * STEP_S)

    assert clock.turns.may_step("beta")


async def test_long_work_of_many_items_lets_others_step_in_between() -> None:
    done: list[str] = []

    def compute(number: int) -> int:
        until_s = time.perf_counter() + STEP_S
        while time.perf_counter() < until_s:
            pass
        done.append("acme")
        return number

    async def other() -> None:
        done.append("beta")

    work = asyncio.create_task(map_in_steps(compute, range(20)))
    await asyncio.sleep(0)
    await asyncio.create_task(other())

    assert await work == [*range(20)]
    assert done.index("beta") < 10


async def test_clients_without_a_tenant_take_turns_too() -> None:
    clock, done = Clock(), list[str]()

    async def request(client: str) -> None:
        await take_turns(clock.taker("", client), clock.work(10, client, done))

    busy = [asyncio.create_task(request("192.0.2.1")) for _ in range(100)]
    await begin(busy[-1])
    other = asyncio.create_task(request("192.0.2.2"))
    await asyncio.gather(other, *busy)

    assert done.index("192.0.2.2") < 25
    assert len(done) == 101


async def test_a_step_of_others_comes_between_the_slices_of_long_data() -> None:
    data, events = bytes(range(256)) * 10_000, list[bytes]()

    async def read() -> None:
        async for part in in_slices(data):
            events.append(part)

    async def other() -> None:
        events.append(b"")

    reading = asyncio.create_task(read())
    await asyncio.sleep(0)
    await asyncio.gather(reading, other())

    assert b"".join(events) == data
    assert events.index(b"") < 5


async def test_what_arrives_during_a_busy_tenants_step_is_served_before_its_next_one() -> None:
    clock, steps, sent_at, delays = Clock(), 0, 0, list[int]()
    client, server = socket.socketpair()
    server.setblocking(False)

    async def request(tenant: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        await take_turns(clock.taker(tenant), work())

    async def busy() -> None:
        nonlocal steps, sent_at
        for _ in range(10):
            clock.now_s += 20 * STEP_S
            steps += 1
            if steps % 20 == 0:
                sent_at = steps
                client.send(b"?")
            await asyncio.sleep(0)

    async def other() -> None:
        for _ in range(20):
            await asyncio.get_running_loop().sock_recv(server, 1)
            delays.append(steps - sent_at)

    with client, server:
        await asyncio.gather(
            request("beta", other),
            *(request("acme", busy) for _ in range(50)),
        )

    assert sorted(delays)[len(delays) // 2] == 0


async def long_steps_at_once(clock: Clock, tenant: str, steps: int) -> int:
    """How many of the tenant's long steps go on at once."""
    going_on, most, let_end = 0, 0, asyncio.Event()

    async def work() -> None:
        nonlocal going_on, most
        async with long_step(tenant):
            going_on += 1
            most = max(most, going_on)
            await let_end.wait()
            going_on -= 1

    async def taking_turns() -> None:
        await take_turns(clock.taker(tenant), work())

    tasks = [asyncio.create_task(taking_turns()) for _ in range(steps)]
    for _ in range(20):
        await asyncio.sleep(0)
    let_end.set()
    await asyncio.gather(*tasks)
    return most


async def test_beside_others_few_long_steps_of_a_tenant_go_on_at_once() -> None:
    clock = Clock()
    clock.step("acme", STEP_S)
    clock.step("", STEP_S)  # of a connection without a valid request: no other tenant
    clock.now_s += 2
    assert await long_steps_at_once(clock, "acme", 5) == 5

    clock.step("beta", STEP_S)
    assert await long_steps_at_once(clock, "acme", 5) == 1

    clock.now_s += 2
    assert await long_steps_at_once(clock, "acme", 5) == 5
