"""The process that runs the embedded servers and stops them when its parent has ended.

    python -m gateway.extensions.embedded_servers.supervisor DATA_DIR PARENT_PID

It stops its servers even if somebody has removed the folder. Its stdout is one line of JSON: the
addresses of both running servers, or an error.
DATA_DIR contains:

lock           held by this process; names its parent
servers.json   the addresses, while the servers run
sockets        a link to the folder of the servers' sockets
postgres/      the cluster and its password, created together
*.pid, *.log   of each server
*-VERSION/     copies of packages that the servers' user cannot reach where they are installed
"""

import dataclasses
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from common.command_errors import CommandError
from gateway.extensions.embedded_servers import postgres, server_user, valkey
from gateway.extensions.embedded_servers.owned_servers import Servers
from gateway.extensions.embedded_servers.server_process import ServerProcess

_WATCH_S = 1.0  # a starting value, not measured


def main(data_dir: Path, parent_pid: int) -> None:
    """Run the servers of a folder until the parent ends."""
    os.umask(0o077)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)  # only the end of the parent stops this process
    try:
        _run_servers(data_dir, parent_pid)
    except (CommandError, OSError, subprocess.TimeoutExpired) as error:
        _print_line(json.dumps({"error": str(error)}))


def _run_servers(data_dir: Path, parent_pid: int) -> None:
    if closed := server_user.inaccessible_folder(data_dir):
        raise CommandError(
            f"as root the servers run as nobody, who cannot enter {closed}: "
            f"set NEARHIT_DATA_DIR to a folder elsewhere, or run `chmod o+x {closed}`"
        )
    postgres.require_room(data_dir)
    database = ServerProcess(
        "postgres", signal.SIGINT, data_dir
    )  # SIGTERM would wait for its clients
    cache = ServerProcess("valkey", signal.SIGTERM, data_dir)
    for server in (database, cache):
        server.stop_survivor()
    address_file, is_published = data_dir / "servers.json", False
    with _sockets(data_dir / "sockets") as sockets, valkey.running(cache, sockets) as redis_url:
        while True:  # a PostgreSQL that was killed starts again, with the same address
            with (
                postgres.running(database, sockets) as (database_url, is_postgres_alive),
                _published(address_file, Servers(database_url, redis_url)) as addresses,
            ):
                if not is_published:
                    _print_line(addresses)
                    is_published = True
                if not _watch(parent_pid, is_postgres_alive):
                    return
            message = f"nearhit: postgres died, and starts again; see {database.log_file}"
            print(message, file=sys.stderr)


@contextmanager
def _sockets(link: Path) -> Iterator[Path]:
    """Create a folder for sockets, whose paths must be short; the link points to it."""
    _remove_sockets(link)
    folder = Path(tempfile.mkdtemp(prefix="nearhit-"))
    link.symlink_to(folder)
    server_user.give_to_servers(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        link.unlink(missing_ok=True)


def _remove_sockets(link: Path) -> None:
    if link.is_symlink():
        shutil.rmtree(link.readlink(), ignore_errors=True)
        link.unlink()


@contextmanager
def _published(path: Path, servers: Servers) -> Iterator[str]:
    """Write the addresses to a file in the folder, and yield its text."""
    text = json.dumps(dataclasses.asdict(servers))
    partial = path.with_suffix(".partial")
    partial.write_text(text)
    partial.replace(path)
    try:
        yield text
    finally:
        path.unlink(missing_ok=True)


def _watch(parent_pid: int, is_postgres_alive: Callable[[], bool]) -> bool:
    """Return False when the parent ends, or True when Postgres has died.

    The parent's end ends stdin, unless a child that the parent has forked holds the other end.
    Valkey may die: without it the gateway is slower but correct.
    """
    while not select.select([sys.stdin], [], [], _WATCH_S)[0] and os.getppid() == parent_pid:
        if not is_postgres_alive():
            return True
    return False


def _print_line(line: str) -> None:
    with suppress(BrokenPipeError):  # the parent has ended; _watch sees it too
        os.write(sys.stdout.fileno(), f"{line}\n".encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
