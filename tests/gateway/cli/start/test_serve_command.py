"""The `nearhit` command as processes that are told, signalled and killed."""

import asyncio
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from gateway.extensions.embedded_servers.owned_servers import Servers
from tests.conftest import fresh_settings, run_sql
from tests.database_copies import DatabaseCopies
from tests.gateway.support.commands import WAIT_S_MAX, environment_of, fails, refused
from tests.gateway.support.gateways import Caller, Gateway
from tests.gateway.support.module_gateway import *  # noqa: F403  the fixtures

pytestmark = [pytest.mark.anyio, pytest.mark.blocking, pytest.mark.slow]

EVENTS = ("start", "stop")
HEALTHY = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


@dataclass(frozen=True)
class Served:
    process: Process
    url: str
    first_line: str

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
            first_line = (await process.stdout.readline()).decode()
            (url,) = re.findall(r"http://127\.0\.0\.1:[0-9]+", first_line)
            served = Served(process, url, first_line)
            # It listens already; the answer comes as soon as it can.
            assert (await served.get("/readyz")).status_code == 200
        yield served
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.communicate()


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


@dataclass(frozen=True)
class Stopped:
    """answer: to a request that was on its way; lines: all that the process wrote."""

    answer: bytes
    status: int
    url: str
    lines: list[str]


async def begin_search(
    served: Served, caller: Caller, body_bytes: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A request that waits for its body."""
    reader, writer = await asyncio.open_connection(*served.address)
    writer.write(
        b"POST /v1/search HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        b"Expect: 100-continue\r\nAuthorization: Bearer %b\r\nContent-Length: %d\r\n\r\n"
        % ((caller.key or "").encode(), body_bytes)
    )
    assert b" 100 " in await reader.readuntil(b"\r\n\r\n")
    return reader, writer


@pytest.fixture(scope="module")
async def stopped(environment: dict[str, str]) -> Stopped:
    """A process that was told to stop while a request was on its way."""
    options = {"NEARHIT_LOG_LEVEL": "info", "NEARHIT_LOG_FORMAT": "text", "NEARHIT_PROT": "1"}
    options |= {"NEARHIT_EXTENSIONS_OFF": "vector_stores", "NEARHIT_VECTOR_STORES_MAX": "1"}
    options |= {"NEARHIT_SCIM_SUBJECT": "externalId"}
    async with serving(environment | options) as served:
        caller = await new_caller(served, "in-flight")
        body = b'{"query": "annual leave"}'
        reader, writer = await begin_search(served, caller, len(body))

        writer.write(body[:10])
        served.process.terminate()
        await served.until_closed()
        writer.write(body[10:])
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        assert served.process.stdout is not None
        async with asyncio.timeout(WAIT_S_MAX):
            lines = (await served.process.stdout.read()).decode().splitlines()
            status = await served.process.wait()
    return Stopped(answer, status, served.url, [served.first_line.rstrip("\n"), *lines])


async def test_a_stop_finishes_the_request_in_flight_and_succeeds(stopped: Stopped) -> None:
    assert stopped.answer.startswith(b"HTTP/1.1 200 ")
    assert stopped.answer.endswith(b'{"hits":[]}')
    assert stopped.status == 0


async def test_a_process_logs_its_start_its_settings_and_its_stop_without_a_secret(
    stopped: Stopped, environment: dict[str, str]
) -> None:
    lines = stopped.lines

    assert [line for line in lines if not line.startswith("timestamp=")] == []
    assert f"event=listening url={stopped.url}" in lines[0]
    start, stop = (next(line for line in lines if f" event={event} " in line) for event in EVENTS)
    (warning,) = (line for line in lines if "event=unknown_setting" in line)
    assert f"version={metadata.version('nearhit')}" in start
    assert "'database_url': '(secret)'" in start
    assert environment["NEARHIT_ADMIN_KEY"] not in "".join(lines)
    assert "process=gateway" in stop
    assert "did you mean NEARHIT_PORT?" in warning
    assert "'scim_subject': 'externalId'" in start
    (unused,) = (line for line in lines if "event=unused_setting" in line)
    assert "NEARHIT_VECTOR_STORES_MAX is not used: the extension vector_stores is off" in unused


@pytest.mark.thorough
async def test_a_second_ctrl_c_ends_the_requests_and_then_stops_in_order(
    environment: dict[str, str],
) -> None:
    async with serving(environment | {"NEARHIT_LOG_LEVEL": "info"}) as served:
        caller = await new_caller(served, "twice")
        _, writer = await begin_search(served, caller, 9)
        served.process.send_signal(signal.SIGINT)
        await served.until_closed()
        served.process.send_signal(signal.SIGINT)
        assert served.process.stdout is not None
        async with asyncio.timeout(WAIT_S_MAX):
            lines = (await served.process.stdout.read()).decode().splitlines()
            status = await served.process.wait()
        writer.close()

    assert json.loads(lines[-1])["event"] == "stop", lines
    assert [line for line in lines if "Traceback" in line] == []
    assert status == 130


@pytest.mark.thorough
async def test_a_log_of_json_holds_nothing_else(environment: dict[str, str]) -> None:
    async with serving(environment | {"NEARHIT_LOG_LEVEL": "info"}) as served:
        served.process.terminate()
        assert served.process.stdout is not None
        async with asyncio.timeout(WAIT_S_MAX):
            lines = (await served.process.stdout.read()).decode().splitlines()
    first, *events = (json.loads(line) for line in (served.first_line, *lines))

    assert (first["event"], first["url"]) == ("listening", served.url)
    assert {"start", "stop"} < {event["event"] for event in events}


@pytest.mark.thorough
async def test_a_key_is_not_made_where_no_terminal_can_show_it(
    environment: dict[str, str],
) -> None:
    async with (
        serving(environment | {"NEARHIT_ADMIN_KEY": ""}) as served,
        served.client() as client,
    ):
        refused = await Caller(client, "nh_anything").call("POST", "/v1/tenants", json={"id": "a"})

    assert refused.status_code == 401


async def test_several_workers_serve_and_count_together_and_end_with_their_parent(
    environment: dict[str, str], tmp_path: Path
) -> None:
    # Who is killed leaves its temporary files: they go with the test's.
    places = {"TMPDIR": str(tmp_path), "NEARHIT_SHARD_FOLDER": str(tmp_path / "shards")}
    async with serving(environment | places, "--workers", "2") as served:
        ana = await new_caller(served, "workers")
        seen: list[str] = []  # of each answer, which worker gave it
        async with asyncio.timeout(WAIT_S_MAX):
            while len(set(seen)) < 2 or len(seen) < 20:
                answer = await served.get("/healthz")
                seen.append(answer.headers["x-request-id"][:8])
                await asyncio.sleep(0.02)  # the other one may still be loading
        for days in range(5):
            async with served.client() as client:
                await Caller(client, ana.key).put("leave", f"{days} days of annual leave.")
            for _ in range(4):
                async with served.client() as client:
                    found = await Caller(client, ana.key).search("annual leave")
                    assert f"{days} days" in found.text
        async with served.client() as client:
            healthy, answers = 0.0, dict[str, float]()
            async with asyncio.timeout(WAIT_S_MAX):  # the other one adds what it counts each second
                while healthy < len(seen) or sum(answers.values()) < 20:
                    healthy = await Gateway(client).counted(
                        "nearhit_http_request_duration_seconds_count",
                        route="/healthz",
                        status="200",
                        tier="",
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


@pytest.mark.thorough
async def test_workers_map_one_file_of_a_shard_that_ends_with_their_parent(
    environment: dict[str, str],
) -> None:
    async with serving(environment, "--workers", "2") as served:
        ana = await new_caller(served, "shared-shards")
        async with served.client() as client:
            await Caller(client, ana.key).put("leave", "25 days of annual leave.")
        async with asyncio.timeout(WAIT_S_MAX):
            while not (folders := mapped_folders(served.process.pid)):
                async with served.client() as client:
                    found = await Caller(client, ana.key).search(f"leave {secrets.token_hex(4)}")
                    assert "25 days" in found.text
            async with served.client() as client:
                events = "nearhit_shard_events_total"
                while not await Gateway(client).counted(events, event="mapped"):
                    await asyncio.sleep(0.02)
        served.process.terminate()
        async with asyncio.timeout(WAIT_S_MAX):
            assert await served.process.wait() == 0

    assert len(folders) == 1
    assert not any(map(Path.exists, folders))


def mapped_folders(parent: int) -> set[Path]:
    """Of the files of shards that two children of the process have mapped."""
    folders: list[set[Path]] = []
    for pid, its_parent in processes().items():
        if its_parent == parent:
            found = re.findall(r"(\S+)\.shard", Path(f"/proc/{pid}/maps").read_text())
            if found:
                folders.append({Path(each).parent for each in found})
    return set.intersection(*folders) if len(folders) == 2 else set()


@pytest.mark.thorough
async def test_a_connection_with_nothing_to_do_is_closed_when_that_is_set(
    environment: dict[str, str],
) -> None:
    brief = environment | {"NEARHIT_KEEP_ALIVE_S": "1"}
    async with serving(brief) as served, used_connection(served) as (reader, _):
        assert await asyncio.wait_for(reader.read(), WAIT_S_MAX) == b""


@pytest.mark.thorough
async def test_a_connection_with_nothing_to_do_is_left_to_whoever_means_to_use_it_again(
    environment: dict[str, str],
) -> None:
    async with serving(environment) as served, used_connection(served) as (reader, writer):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(1), 6.0)  # uvicorn itself closes it after 5

        writer.write(HEALTHY)
        assert b" 200 " in await reader.readuntil(b"\r\n")


@asynccontextmanager
async def used_connection(
    served: Served,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection(*served.address)
    writer.write(HEALTHY)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(re.search(rb"content-length: ([0-9]+)", head)[1])  # type: ignore[index]  # it is told
    await reader.readexactly(length)
    try:
        yield reader, writer
    finally:
        writer.close()


@pytest.mark.thorough
async def test_a_taken_port_is_named(environment: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])

        line = await fails(environment, "serve", "--port", port)

    assert f"127.0.0.1:{port}" in line
    assert "--port" in line


@pytest.mark.thorough
async def test_an_embedder_that_is_refused_is_told_before_a_worker_starts(
    environment: dict[str, str],
) -> None:
    line = await fails(
        environment | {"NEARHIT_EMBEDDER": "onnx:/nowhere"}, "serve", "--workers", "2"
    )

    assert "/nowhere" in line


@pytest.mark.thorough
async def test_a_new_database_that_only_reads_is_told_before_anything_listens(
    servers: Servers, databases: DatabaseCopies
) -> None:
    async with fresh_settings(servers, databases) as settings:
        environment = environment_of(settings)
        name = urlsplit(environment["NEARHIT_DATABASE_URL"]).path[1:]
        reading = f"ALTER DATABASE {name} SET default_transaction_read_only = on"
        await run_sql(servers.database_url, reading)

        line = await fails(environment, "serve", "--port", "0")

    assert "PostgreSQL only reads" in line


@pytest.mark.thorough
@pytest.mark.parametrize("workers", ["1", "2"])
async def test_an_embedder_that_the_index_does_not_have_is_told_before_anything_listens(
    environment: dict[str, str], workers: str
) -> None:
    async with serving(environment):  # the index is of the static embedder from now on
        pass

    line = await fails(
        environment | {"NEARHIT_EMBEDDER": "test"},
        *("serve", "--port", "0", "--workers", workers),
    )

    assert "the embedder of this index is ('wordllama" in line
    assert "set it back" in line
    assert "NEARHIT_EMBEDDER_NEXT" in line


@pytest.mark.sampled("status")
@pytest.mark.parametrize("command", ["serve", "worker", "status"])
async def test_a_role_of_searches_that_may_read_a_table_is_told_before_anything_starts(
    servers: Servers, databases: DatabaseCopies, command: str
) -> None:
    async with fresh_settings(servers, databases) as own:
        assert own.database_url is not None
        url = own.database_url.get_secret_value()
        await run_sql(url, "GRANT SELECT ON keys TO nearhit_search")

        run = refused if command == "status" else fails  # those that serve need the main thread
        line = await run(environment_of(own), command)

    assert "it may read or change keys: REVOKE ALL ON keys FROM nearhit_search" in line
