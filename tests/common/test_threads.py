"""Threads that tenants share."""

import asyncio
import threading
import time
from dataclasses import dataclass

import pytest

from common.shares.threads import FairThreads
from common.shares.turns import FairTurns, take_turns

pytestmark = pytest.mark.anyio


def of(number: int) -> FairThreads:
    return FairThreads(number, name="test", waiting_max=100, wait_s_max=60.0)


async def test_a_tenant_that_computes_much_leaves_threads_to_others() -> None:
    threads, go_on = of(4), threading.Event()
    computing = [asyncio.create_task(threads.run("acme", go_on.wait, 60)) for _ in range(50)]
    await asyncio.sleep(0)

    assert await threads.run("beta", sum, [1, 2]) == 3

    go_on.set()
    assert all(await asyncio.gather(*computing))
    threads.close()


async def test_who_gives_up_keeps_its_thread_until_the_function_ends() -> None:
    threads, go_on, began = of(1), threading.Event(), threading.Event()

    def compute() -> None:
        began.set()
        go_on.wait(60)

    given_up = asyncio.create_task(threads.run("acme", compute))
    await asyncio.to_thread(began.wait, 60)
    given_up.cancel()
    await asyncio.gather(given_up, return_exceptions=True)
    waiting = asyncio.create_task(threads.run("beta", sum, [1, 2]))
    done, _ = await asyncio.wait([waiting], timeout=0.05)

    assert not done
    go_on.set()
    assert await waiting == 3
    threads.close()


async def test_what_a_function_raises_is_raised() -> None:
    threads = of(1)

    with pytest.raises(ZeroDivisionError):
        await threads.run("acme", divmod, 1, 0)

    assert await threads.run("acme", sum, [1, 2]) == 3
    threads.close()


class CountedTurns(FairTurns):
    def __init__(self) -> None:
        super().__init__()
        self.charged_s = 0.0

    def charge(self, tenant: str, seconds: float) -> None:
        assert tenant == "acme"
        self.charged_s += seconds


@dataclass
class Taker:
    turns: FairTurns
    tenant: str = "acme"
    client: str = ""


async def test_what_a_requests_threads_compute_counts_as_its_turns() -> None:
    threads, turns = of(1), CountedTurns()

    def compute() -> float:
        began_s = time.thread_time()
        while time.thread_time() < began_s + 0.02:
            pass
        return time.thread_time() - began_s

    async def request() -> float:
        return await take_turns(Taker(turns), threads.run("acme", compute))

    computed_s = await asyncio.create_task(request())  # in a context of its own, as requests are

    assert turns.charged_s >= computed_s
    threads.close()
