import asyncio
import socket
import time
from collections.abc import Iterator

import pytest

from cache.redis.call_timeout import CallTimeout

pytestmark = pytest.mark.anyio

BUDGET_S = 0.01


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        yield ours, theirs


def keep_busy(seconds: float) -> None:
    """As a search does that fuses long legs."""
    until_s = time.perf_counter() + seconds
    while time.perf_counter() < until_s:
        pass


async def test_what_does_not_come_is_given_up(ends: tuple[socket.socket, socket.socket]) -> None:
    ours, _ = ends

    with pytest.raises(TimeoutError):
        async with CallTimeout(BUDGET_S):
            await asyncio.get_running_loop().sock_recv(ours, 100)


async def test_what_came_while_the_loop_was_busy_came_in_time(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = ends
    loop = asyncio.get_running_loop()

    async with CallTimeout(BUDGET_S):
        waiting = asyncio.ensure_future(loop.sock_recv(ours, 100))
        await asyncio.sleep(0)
        theirs.send(b"here it is")
        keep_busy(3 * BUDGET_S)
        assert await waiting == b"here it is"


async def test_whoever_gives_up_on_the_caller_is_not_taken_for_the_time(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    ours, _ = ends

    async def ask() -> None:
        async with CallTimeout(60):
            await asyncio.get_running_loop().sock_recv(ours, 100)

    asking = asyncio.create_task(ask())
    await asyncio.sleep(0)
    asking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asking
