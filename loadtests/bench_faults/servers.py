"""A gateway, its PostgreSQL, and its Redis behind a relay; each can be killed and paused."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from loadtests.bench.frame import SETTINGS
from loadtests.servers import service
from loadtests.servers.gateway import GatewayProcess
from loadtests.servers.redis import RedisProcess
from loadtests.servers.service import Service

_WIRE_S_MAX = 10.0
_DISK_MB = 16


class RedisRelay:
    """The relay between the gateway and Redis."""

    def __init__(self, folder: Path, target: Path) -> None:
        self._listen, self._target = folder / "wire.sock", target
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"unix://{self._listen}?db=0"

    def mend(self) -> None:
        self._listen.unlink(missing_ok=True)
        command = [sys.executable, "-m", "loadtests.servers.socket_relay"]
        self._process = subprocess.Popen([*command, str(self._listen), str(self._target)])  # noqa: S603
        deadline_s = time.monotonic() + _WIRE_S_MAX
        while not self._listen.exists() and time.monotonic() < deadline_s:
            time.sleep(0.01)

    def cut(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


class SmallDisk:
    """A small file system in memory, if this user may mount one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self._ballast = folder / "ballast"
        mount = ["mount", "-t", "tmpfs", "-o", f"size={_DISK_MB}m,mode=755", "nearhit", str(folder)]
        self.is_there = subprocess.run(mount, capture_output=True, check=False).returncode == 0  # noqa: S603

    def fill(self) -> None:
        with suppress(OSError), self._ballast.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))

    def clear(self) -> None:
        self._ballast.unlink()

    def remove(self) -> None:
        if self.is_there:
            subprocess.run(["umount", str(self.folder)], check=True)  # noqa: S603, S607


class PostgresProcesses:
    """The processes of a PostgreSQL, found by its data folder."""

    def __init__(self, folder: Path) -> None:
        (file,) = folder.rglob("postmaster.pid")
        self._leader = int(file.read_text().splitlines()[0])

    def pause(self) -> None:
        for pid in [self._leader, *self._children()]:
            os.kill(pid, signal.SIGSTOP)

    def resume(self) -> None:
        for pid in [*self._children(), self._leader]:
            os.kill(pid, signal.SIGCONT)

    def crash(self) -> None:
        """Kill one process: PostgreSQL closes all connections and recovers."""
        os.kill(self._children()[0], signal.SIGKILL)

    def _children(self) -> list[int]:
        file = Path(f"/proc/{self._leader}/task/{self._leader}/children")
        return [int(pid) for pid in file.read_text().split()]


@dataclass(frozen=True, slots=True)
class FaultServers:
    gateway: GatewayProcess
    disk: SmallDisk
    redis: RedisProcess
    wire: RedisRelay
    postgres: PostgresProcesses

    @property
    def admin_key(self) -> str:
        return self.gateway.shared.admin_key


@contextmanager
def running(settings: dict[str, str] | None = None) -> Iterator[FaultServers]:
    with ExitStack() as stack:
        folder = stack.enter_context(service.server_folder())
        database_url = stack.enter_context(service.database(folder / "data"))
        disk = SmallDisk(folder / "redis")
        stack.callback(disk.remove)
        redis = RedisProcess(disk.folder)
        redis.start()
        stack.callback(redis.kill)
        wire = RedisRelay(folder, redis.socket)
        wire.mend()
        stack.callback(wire.cut)
        admin_key = service.new_admin_key()
        shared = Service("", admin_key, database_url, wire.url, 0)
        gateway = GatewayProcess(shared, {**SETTINGS, **(settings or {})})
        gateway.start()
        stack.callback(gateway.stop)
        yield FaultServers(gateway, disk, redis, wire, PostgresProcesses(folder / "data"))
