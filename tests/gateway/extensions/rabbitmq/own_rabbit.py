"""A RabbitMQ of the tests' own, from Debian's package: killed and started again as it is told.

Everything of it is in one folder and on free ports; as root's it runs as nobody.
"""

import asyncio
import os
import shutil
import signal
import tempfile
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from loadtests.servers.ports import free_port
from tests import system_programs

_START_S_MAX = 60.0
_IS_ROOT = os.geteuid() == 0
_AS_NOBODY = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups") if _IS_ROOT else ()


@dataclass(slots=True)
class OwnRabbit:
    folder: Path
    port: int = field(default_factory=free_port)
    _names_port: int = field(default_factory=free_port)
    _peers_port: int = field(default_factory=free_port)
    _names: Process | None = None
    _server: Process | None = None

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self.port}/"

    async def start(self) -> None:
        """What was in durable queues is there again, if it had been started before."""
        if self._names is None:  # else the server would start one, and leave it behind
            self._names = await self._run("epmd", "-port", str(self._names_port))
        self._server = await self._run(str(system_programs.require("rabbitmq-server")))
        async with asyncio.timeout(_START_S_MAX):
            while not await self._answers():
                assert self._server.returncode is None, "RabbitMQ did not start"
                await asyncio.sleep(0.1)

    async def kill(self) -> None:
        server, self._server = self._server, None
        await _killed(server)

    async def close(self) -> None:
        await self.kill()
        names, self._names = self._names, None
        await _killed(names)

    async def _run(self, *command: str) -> Process:
        return await asyncio.create_subprocess_exec(
            *_AS_NOBODY,
            *command,
            cwd=self.folder,
            env=self._environment(),
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=DEVNULL,
            start_new_session=True,
        )

    def _environment(self) -> Mapping[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "ERL_EPMD_PORT": str(self._names_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"nearhit-{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self._peers_port),
            "RABBITMQ_MNESIA_BASE": str(self.folder / "data"),
            "RABBITMQ_LOG_BASE": str(self.folder / "logs"),
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_CONFIG_FILE": str(self.folder / "rabbitmq"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none",  # one thread, which sleeps
        }

    async def _answers(self) -> bool:
        """It listens last of all that it does when it starts."""
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return False
        writer.close()
        await writer.wait_closed()
        return True


@asynccontextmanager
async def own_rabbit() -> AsyncIterator[OwnRabbit]:
    """A running one."""
    with tempfile.TemporaryDirectory(prefix="nearhit-rabbit-") as name:
        if _IS_ROOT:
            shutil.chown(name, "nobody", "nogroup")
        made = OwnRabbit(Path(name))
        try:
            await made.start()
            yield made
        finally:
            await made.close()


async def _killed(process: Process | None) -> None:
    if process is not None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
