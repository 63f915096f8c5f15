"""A PgBouncer from Debian's package, in transaction mode on one Unix socket.

Started by root, it runs as nobody, since it refuses to run as root.
"""

import asyncio
import os
import shutil
import subprocess
import tempfile
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit, urlunsplit

PROGRAM = shutil.which("pgbouncer")
MISSING = "PgBouncer is not installed: apt-get install pgbouncer"
_START_S_MAX = 10.0
_IS_ROOT = os.geteuid() == 0
_AS_NOBODY = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups") if _IS_ROOT else ()


def version() -> tuple[int, ...]:
    assert PROGRAM is not None, MISSING
    output = subprocess.check_output([PROGRAM, "--version"], text=True)  # noqa: S603 - a tool of ours
    return tuple(int(part) for part in output.split()[1].split("."))


@dataclass(frozen=True, slots=True)
class PgBouncerProcess:
    folder: Path

    def url(self, database_url: str, user: str, password: str) -> str:
        """The URL of the same database through this PgBouncer."""
        login = f"{user}:{password}@"
        query = f"host={quote(str(self.folder))}&port=6432"
        return urlunsplit(urlsplit(database_url)._replace(netloc=login, query=query))


@asynccontextmanager
async def pgbouncer_process(
    database_url: str, logins: Mapping[str, str], *, as_user: str = "", **options: str | int
) -> AsyncIterator[PgBouncerProcess]:
    """A running PgBouncer for all databases of a server on a Unix socket.

    logins: passwords by user name. as_user: the user that it logs in as, for every client.
    options: further lines of its configuration.
    """
    assert PROGRAM is not None, MISSING
    with tempfile.TemporaryDirectory(prefix="nearhit-pgbouncer-") as name:
        folder = Path(name)
        _configure(folder, database_url, logins, as_user, options)
        process = await asyncio.create_subprocess_exec(
            *_AS_NOBODY,
            PROGRAM,
            str(folder / "pgbouncer.ini"),
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=DEVNULL,
        )
        try:
            await _answers(process, folder)
            yield PgBouncerProcess(folder)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


def _configure(
    folder: Path,
    database_url: str,
    logins: Mapping[str, str],
    as_user: str,
    options: Mapping[str, str | int],
) -> None:
    (host,) = parse_qs(urlsplit(database_url).query)["host"]
    settings = {
        "unix_socket_dir": folder,
        "listen_port": 6432,
        "auth_type": "scram-sha-256",
        "auth_file": folder / "users",
        "pool_mode": "transaction",
        "max_client_conn": 2_000,
        "default_pool_size": 4,
        "logfile": folder / "log",
        **options,
    }
    lines = "\n".join(f"{key} = {value}" for key, value in settings.items())
    server = f"host={host} port=5432" + (f" user={as_user}" if as_user else "")
    (folder / "pgbouncer.ini").write_text(f"[databases]\n* = {server}\n[pgbouncer]\n{lines}\n")
    users = "".join(f'"{user}" "{password}"\n' for user, password in logins.items())
    (folder / "users").write_text(users)
    if _IS_ROOT:
        for path in (folder, folder / "users"):
            shutil.chown(path, "nobody", "nogroup")
        folder.chmod(0o755)


async def _answers(process: Process, folder: Path) -> None:
    async with asyncio.timeout(_START_S_MAX):
        while True:
            assert process.returncode is None, (folder / "log").read_text()
            try:
                _, writer = await asyncio.open_unix_connection(folder / ".s.PGSQL.6432")
            except OSError:
                await asyncio.sleep(0.02)
                continue
            writer.close()
            await writer.wait_closed()
            return
