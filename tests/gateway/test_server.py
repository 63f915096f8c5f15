"""The `nearhit` command: as processes that are told, signalled and killed, or in this process
where only what it says and does counts, for each start takes seconds.
"""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from typer.testing import CliRunner, Result

from gateway import server
from gateway.command import app
from gateway.embedded import Servers
from gateway.logs import FLUSH_S
from gateway.settings import Settings
from index.search import Embedder
from tests.conftest import fresh_settings, run_sql
from tests.gateway.gateways import Caller, Gateway, running

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year.\n"
WAIT_S_MAX = 30.0
COMMANDS = (
    (),
    ("demo",),
    ("serve",),
    ("worker",),
    ("ingest",),
    ("reembed",),
    ("search",),
    ("tenant",),
    ("tenant", "create"),
    ("key",),
    ("key", "create"),
    ("backfill",),
    ("audit",),
    ("audit", "index"),
    ("status",),
    ("usage",),
    ("jobs",),
    ("jobs", "list"),
    ("jobs", "show"),
    ("jobs", "replay"),
    ("jobs", "drop"),
    ("loadtest",),
)
# What takes long to load, and is needed only by a command that does something.
HEAVY = {
    "asyncpg",
    "hdrh",
    "matplotlib",
    "numpy",
    "openai",
    "redis",
    "starlette",
    "uvicorn",
    "wordfreq",
    "wordllama",
}


@pytest.fixture(autouse=True)
def no_blocking_calls() -> None:
    """Commands may block the loop that they start for themselves: nobody else waits in it."""


@pytest.fixture(scope="module")
async def settings(servers: Servers, databases: "asyncio.Queue[str]") -> AsyncIterator[Settings]:
    async with fresh_settings(servers, databases) as made:
        yield made.model_copy(update={"log_level": "warning"})


@pytest.fixture(scope="module")
def environment(settings: Settings) -> dict[str, str]:
    return environment_of(settings)


def environment_of(settings: Settings) -> dict[str, str]:
    """What a command needs to know of the test's servers."""
    return server.environment(settings) | {
        "NEARHIT_CACHE_PREFIX": settings.cache_prefix,
        "NEARHIT_CACHE_BUDGET_S": str(settings.cache_budget_s),
        "NEARHIT_LOG_LEVEL": "warning",
    }


@pytest.fixture(scope="module")
async def gateway(settings: Settings, embedder: Embedder) -> AsyncIterator[Gateway]:
    """A worker that knows of the commands what the servers tell."""
    async with running(settings, embedder) as made:
        yield made


# Processes.


@dataclass(frozen=True)
class Served:
    process: Process
    url: str

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.url.removeprefix("http://").partition(":")
        return host, int(port)

    async def get(self, path: str) -> httpx2.Response:
        """Over a connection of its own, which any worker may accept."""
        async with self.client() as client:
            return await client.get(path)

    def client(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(base_url=self.url, timeout=WAIT_S_MAX, verify=False)

    async def until_closed(self) -> None:
        """Nobody listens on the address any more."""
        async with asyncio.timeout(WAIT_S_MAX):
            while True:
                try:
                    _, writer = await asyncio.open_connection(*self.address)
                except ConnectionError:
                    return
                writer.close()
                await asyncio.sleep(0.02)


@asynccontextmanager
async def serving(environment: dict[str, str], *arguments: str) -> AsyncIterator[Served]:
    """`nearhit serve` on a free port, which answers."""
    command = [sys.executable, "-m", "gateway", "serve", "--port", "0", *arguments]
    process = await asyncio.create_subprocess_exec(
        *command,
        env=os.environ | environment,
        stdout=PIPE,
        stdin=DEVNULL,
        start_new_session=True,  # so that whatever is left of it can be killed together
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(WAIT_S_MAX):
            told = (await process.stdout.readline()).decode()
            assert told.startswith("listening on http://127.0.0.1:")
            served = Served(process, told.removeprefix("listening on ").strip())
            # It listens already; the answer comes as soon as it can.
            assert (await served.get("/readyz")).status_code == 200
        yield served
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.communicate()


async def fails(environment: dict[str, str], *arguments: str) -> str:
    """What a command says that can't be done: one line, without a stack trace."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", *arguments),
        env=without_settings() | environment,
        stdout=PIPE,
        stderr=PIPE,
        stdin=DEVNULL,
    )
    async with asyncio.timeout(WAIT_S_MAX):
        out, err = await process.communicate()
    assert process.returncode == 1, err.decode()
    assert out == b""
    (line,) = err.decode().splitlines()
    assert line.startswith("nearhit: ")
    return line


def without_settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("NEARHIT_")}


def processes() -> dict[int, int]:
    """The parent of each living process."""
    command = ("/bin/ps", "-A", "-o", "pid=,ppid=,stat=")
    listed = subprocess.run(command, capture_output=True, check=True).stdout  # noqa: S603  ps
    rows = (line.split() for line in listed.decode().splitlines())
    return {int(pid): int(parent) for pid, parent, state in rows if not state.startswith("Z")}


async def new_caller(served: Served, tenant: str) -> Caller:
    async with served.client() as client:
        return await (await with_tenant(client, tenant)).caller("ana", tenant=tenant)


async def with_tenant(client: httpx2.AsyncClient, tenant: str) -> Gateway:
    gateway = Gateway(client)
    await gateway.tenant(tenant)
    return gateway


async def test_a_stop_finishes_the_request_in_flight_and_succeeds(
    environment: dict[str, str],
) -> None:
    async with serving(environment) as served:
        caller = await new_caller(served, "in-flight")
        body = b'{"query": "annual leave"}'
        reader, writer = await asyncio.open_connection(*served.address)
        writer.write(
            b"POST /v1/search HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
            b"Expect: 100-continue\r\nAuthorization: Bearer %b\r\nContent-Length: %d\r\n\r\n"
            % ((caller.key or "").encode(), len(body))
        )
        assert b" 100 " in await reader.readuntil(b"\r\n\r\n")  # it waits for the body

        writer.write(body[:10])
        served.process.terminate()
        await served.until_closed()
        writer.write(body[10:])
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        async with asyncio.timeout(WAIT_S_MAX):
            status = await served.process.wait()

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b'{"hits":[]}')
    assert status == 0


async def test_several_workers_serve_and_count_together_and_end_with_their_parent(
    environment: dict[str, str], tmp_path: Path
) -> None:
    # Who is killed leaves its temporary files: they go with the test's.
    async with serving(environment | {"TMPDIR": str(tmp_path)}, "--workers", "2") as served:
        ana = await new_caller(served, "workers")
        seen: list[str] = []  # of each answer, which worker gave it
        async with asyncio.timeout(WAIT_S_MAX):
            while len(set(seen)) < 2 or len(seen) < 20:
                answer = await served.get("/healthz")
                seen.append(answer.headers["x-request-id"][:8])
        for days in range(5):
            async with served.client() as client:
                await Caller(client, ana.key).put("leave", f"{days} days of annual leave.")
            for _ in range(4):
                async with served.client() as client:
                    found = await Caller(client, ana.key).search("annual leave")
                    assert f"{days} days" in found.text
        async with served.client() as client:
            healthy = await Gateway(client).counted(
                "nearhit_request_seconds_count", route="/healthz", status="200", tier=""
            )
            answers = await Gateway(client).answers()

        workers = {pid for pid, parent in processes().items() if parent == served.process.pid}
        served.process.kill()
        await served.until_closed()
        async with asyncio.timeout(WAIT_S_MAX):
            while workers & processes().keys():
                await asyncio.sleep(0.05)

    assert len(workers) >= 2
    assert healthy == len(seen)
    assert sum(answers.values()) == 20


async def test_a_taken_port_is_named(environment: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])

        line = await fails(environment, "serve", "--port", port)

    assert f"127.0.0.1:{port}" in line
    assert "--port" in line


async def test_an_embedder_that_is_refused_is_told_before_a_worker_starts(
    environment: dict[str, str],
) -> None:
    line = await fails(environment | {"NEARHIT_EMBEDDER": "hashing"}, "serve", "--workers", "2")

    assert "for tests" in line
    assert "NEARHIT_MODE=test" in line


@pytest.mark.parametrize("command", ["serve", "worker", "status"])
async def test_a_role_of_searches_that_may_read_a_table_is_told_before_anything_starts(
    servers: Servers, databases: "asyncio.Queue[str]", command: str
) -> None:
    async with fresh_settings(servers, databases) as own:
        assert own.database_url is not None
        url = own.database_url.get_secret_value()
        await run_sql(url, "GRANT SELECT ON keys TO nearhit_search")

        line = await fails(environment_of(own), command)

    assert "it may read or change keys: REVOKE ALL ON keys FROM nearhit_search" in line


async def test_every_commands_help_loads_nothing_that_takes_long_to_load() -> None:
    script = f"""
import sys
from typer.testing import CliRunner
from gateway.command import app
for command in {COMMANDS}:
    shown = CliRunner().invoke(app, [*command, "--help"])
    assert shown.exit_code == 0 and "Usage" in shown.output, (command, shown.output)
print(*sorted({HEAVY} & sys.modules.keys()))
"""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=PIPE)
    out, _ = await process.communicate()

    assert process.returncode == 0
    assert out.split() == []


# In this process.


async def command(environment: Mapping[str, str], *arguments: str) -> Result:
    """What the command says and does, in a thread of its own, for it starts a loop of its own."""
    await asyncio.sleep(2 * FLUSH_S)  # or a gateway of this process says its lines in between
    runner = CliRunner()
    unset = {name: None for name in os.environ if name.startswith("NEARHIT_")}
    return await asyncio.to_thread(
        runner.invoke, app, list(arguments), env={**unset, **environment}
    )


async def succeeds(environment: Mapping[str, str], *arguments: str) -> str:
    done = await command(environment, *arguments)
    assert done.exit_code == 0, f"{done.output} {done.exception!r}"
    assert done.stderr == ""
    return done.stdout


async def refused(environment: Mapping[str, str], *arguments: str) -> str:
    done = await command(environment, *arguments)
    assert done.exit_code == 1, f"{done.output} {done.exception!r}"
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line


async def test_a_tenant_and_a_key_are_made_and_the_key_works(
    environment: dict[str, str], gateway: Gateway
) -> None:
    created = await succeeds(environment, "tenant", "create", "acme", "--name", "Acme Ltda.")
    key = await succeeds(
        environment,
        *("key", "create", "--tenant", "acme", "--subject", "ben"),
        *("--group", "sales", "--group", "people", "--role", "reader"),
    )
    ana = await gateway.caller("ana")
    await ana.put("leave", LEAVE, readers=["group:people"])
    ben = Caller(gateway.client, key.strip())

    assert created == "created tenant acme\n"
    assert re.fullmatch(r"nh_[A-Za-z0-9_-]{43}\n", key)
    assert await ben.found("annual leave") == ["leave"]
    assert (await ben.call("PUT", "/v1/documents/own", json={"text": "x"})).status_code == 403
    assert (
        await gateway.operator.call("POST", "/v1/tenants", json={"id": "acme"})
    ).status_code == 409


async def test_what_can_not_be_made_is_told_in_a_line(environment: dict[str, str]) -> None:
    await succeeds(environment, "tenant", "create", "twice")

    assert "there is a tenant twice already" in await refused(
        environment, "tenant", "create", "twice"
    )
    assert "id: " in await refused(environment, "tenant", "create", "NOT GOOD")
    assert "there is no tenant nobody" in await refused(
        environment, "key", "create", "--tenant", "nobody"
    )
    assert "roles.0: " in await refused(
        environment, "key", "create", "--tenant", "twice", "--role", "king"
    )
    assert "there is no tenant nobody" in await refused(
        environment, "search", "annual leave", "--tenant", "nobody"
    )
    assert "NEARHIT_MODE=test" in await refused(
        environment | {"NEARHIT_EMBEDDER": "hashing"}, "search", "annual leave"
    )


async def test_a_folder_is_found_over_http_at_once_and_what_it_loses_is_pruned(
    environment: dict[str, str], gateway: Gateway, tmp_path: Path
) -> None:
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "leave.md").write_text(LEAVE)
    (folder / "travel.md").write_text("# Travel\n\nBook trains with the travel desk.\n")
    (folder / "salary.md").write_text("---\nreaders: ['group:finance']\n---\n# Salary bands\n")
    (folder / "broken.md").write_bytes(b"\xff\xfe\x00")
    await gateway.tenant("readers")
    ana = await gateway.caller("ana", tenant="readers")
    fay = await gateway.caller("fay", tenant="readers", groups=["finance"])
    assert await ana.found("leave travel salary") == []  # and so the empty answer is cached
    ingest = ("ingest", str(folder), "--tenant", "readers")

    first = await command(environment, *ingest)
    found_first = set(await ana.found("leave travel salary"))
    (folder / "broken.md").unlink()
    (folder / "travel.md").unlink()
    (folder / "leave.md").write_text(LEAVE.replace("25", "27"))
    second = await succeeds(environment, *ingest)
    found_second = set(await ana.found("leave travel salary"))
    third = await succeeds(environment, *ingest, "--prune")
    found_third = set(await ana.found("leave travel salary"))

    assert first.exit_code == 1  # for what it could not read
    assert "3 documents" in first.stdout
    assert "broken.md" in first.stdout
    assert found_first == {"handbook/leave.md", "handbook/travel.md"}
    assert set(await fay.found("salary")) == {*found_third, "handbook/salary.md"}
    assert "2 documents" in second
    assert found_second == found_first
    assert "27 days" in (await ana.search("annual leave")).text
    assert "1 removed" in third
    assert found_third == {"handbook/leave.md"}


async def test_a_search_shows_what_the_principal_may_read(
    environment: dict[str, str], gateway: Gateway
) -> None:
    await gateway.tenant("shown")
    ana = await gateway.caller("ana", tenant="shown")
    await ana.put("leave", LEAVE, title="Annual [leave]", readers=["group:people"])
    search = ("search", "annual leave", "--tenant", "shown")

    member = await succeeds(environment, *search, "--subject", "ben", "--group", "people")
    stranger = await succeeds(environment, *search, "--subject", "ben")

    assert "Annual [leave]" in member
    assert "Everybody gets 25 days of annual leave a year." in member
    assert re.search(r"^leave$", member, re.MULTILINE)
    assert "25 days" not in stranger


async def test_a_tenant_is_moved_to_another_embedder_and_found_by_whoever_knows_both(
    environment: dict[str, str], gateway: Gateway
) -> None:
    await gateway.tenant("moving")
    ana = await gateway.caller("ana", tenant="moving")
    await ana.put("leave", LEAVE)
    testing = environment | {"NEARHIT_MODE": "test"}
    move = ("reembed", "--to", "hashing", "--tenant", "moving")

    moved = await succeeds(testing, *move)
    again = await succeeds(testing, *move)
    both = testing | {"NEARHIT_EMBEDDER_NEXT": "hashing"}
    found = await succeeds(both, "search", "leave", "--tenant", "moving", "--subject", "ana")
    unaware = await ana.search("annual leave")

    assert moved == "moved to hashing: moving\n"
    assert again == "moved to hashing: nothing, all are there already\n"
    assert "25 days" in found
    assert unaware.headers["nearhit-degraded"] == "lexical-only"
    assert [hit["document_id"] for hit in unaware.json()["hits"]] == ["leave"]


async def test_what_can_not_be_moved_is_told_in_a_line(environment: dict[str, str]) -> None:
    forbidden = await refused(environment, "reembed", "--to", "hashing")
    unknown = await refused(
        environment | {"NEARHIT_MODE": "test"}, "reembed", "--to", "hashing", "--tenant", "nobody"
    )

    assert "NEARHIT_MODE=test" in forbidden
    assert "there is no tenant nobody" in unknown


@pytest.mark.parametrize(
    ("given", "missing"),
    [("NEARHIT_DATABASE_URL", "NEARHIT_REDIS_URL"), ("NEARHIT_REDIS_URL", "NEARHIT_DATABASE_URL")],
)
async def test_half_of_the_servers_is_refused(
    environment: dict[str, str], given: str, missing: str
) -> None:
    half = {name: value for name, value in environment.items() if name != missing}

    line = await refused(half, "tenant", "create", "acme")

    assert f"{given} is set and {missing} is not" in line
    assert environment[given] not in line  # it holds a password


async def test_each_bad_setting_names_its_variable(environment: dict[str, str]) -> None:
    bad = {
        "NEARHIT_PORT": "a lot",
        "NEARHIT_EMBEDDER": "magic",
        "NEARHIT_DEADLINE_S": "-1",
        "NEARHIT_WORKERS": "0",
        "NEARHIT_ADMIN_KEY": "hush-hush",
    }

    line = await refused(environment | bad, "tenant", "create", "acme")

    for name in bad:
        assert f"{name}: " in line
    assert "hush-hush" not in line


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NEARHIT_DATABASE_URL", "nonsense"),
        ("NEARHIT_DATABASE_URL", "postgresql://me:password@[bad/x"),
        ("NEARHIT_REDIS_URL", "nonsense"),
        ("NEARHIT_DATABASE_URL", "postgresql://me:password@127.0.0.1:1/x"),
    ],
)
async def test_an_address_where_nothing_is_is_told_in_a_line(
    environment: dict[str, str], name: str, value: str
) -> None:
    line = await refused(environment | {name: value}, "search", "annual leave")

    assert "password" not in line
