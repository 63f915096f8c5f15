"""Callers that go away, and time that runs out: nothing is broken, and nothing is held for ever.

The gateways here have one connection for all requests: one that leaked would stop everything.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import asyncpg
import orjson
import pytest

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, Gateway, problem, running
from tests.gateway.support.unreliable_embedder import MoodyEmbedder

pytestmark = pytest.mark.anyio

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."
WAIT_S_MAX = 120.0


@pytest.fixture
def settings(module_settings: Settings) -> Settings:
    prefix = f"nearhit-test-{secrets.token_hex(6)}:"
    return module_settings.model_copy(update={"cache_prefix": prefix, "database_connections": 1})


@pytest.fixture
def moody(embedder: Embedder) -> MoodyEmbedder:
    return MoodyEmbedder(embedder)


@pytest.fixture
async def gateway(settings: Settings, moody: MoodyEmbedder) -> AsyncIterator[Gateway]:
    async with running(settings, moody) as made:
        yield made


@pytest.fixture
async def hasty(settings: Settings, moody: MoodyEmbedder) -> AsyncIterator[Gateway]:
    """A gateway whose deadline passes while anybody waits for anything."""
    quick = settings.model_copy(update={"deadline_s": 0.5})
    async with running(quick, moody) as made:
        yield made


async def writer_of_a_new_tenant(gateway: Gateway) -> Caller:
    tenant = f"t-{secrets.token_hex(6)}"
    await gateway.tenant(tenant)
    return await gateway.caller("ana", tenant=tenant)


@pytest.fixture
async def ana(gateway: Gateway) -> Caller:
    """A caller with a document."""
    caller = await writer_of_a_new_tenant(gateway)
    await caller.put("leave", LEAVE)
    return caller


class Visit:
    """A connection to a gateway, on which a request is sent piece by piece, or left off."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, content: bytes) -> None:
        self.writer.write(content)
        await self.writer.drain()

    async def request(
        self, caller: Caller, method: str, path: str, body: bytes, *, length: int | None = None
    ) -> None:
        """length: of the body that is promised, if it is another."""
        lines = (
            f"{method} {path} HTTP/1.1",
            "Host: gateway",
            f"Authorization: Bearer {caller.key}",
            f"Content-Length: {len(body) if length is None else length}",
            "\r\n",
        )
        await self.send("\r\n".join(lines).encode() + body)

    async def leave(self) -> None:
        """Close without a goodbye: the gateway's next write meets a reset."""
        self.writer.transport.abort()


@asynccontextmanager
async def visit(gateway: Gateway) -> AsyncIterator[Visit]:
    url = gateway.client.base_url
    # With so low a limit nothing is read from the socket but what a test asks for.
    made = Visit(*await asyncio.open_connection(url.host, url.port, limit=16))
    try:
        yield made
    finally:
        await made.leave()


async def requests_told(gateway: Gateway, route: str) -> float:
    """How many requests to a route have ended, however they did."""
    text = (await gateway.client.get("/metrics")).text
    start = f'nearhit_http_request_duration_seconds_count{{route="{route}"'
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(start))


async def until_told(gateway: Gateway, route: str, count: float) -> None:
    async with asyncio.timeout(WAIT_S_MAX):
        while await requests_told(gateway, route) < count:
            await asyncio.sleep(0.005)


async def assert_works(caller: Caller) -> None:
    """The next fifty requests, some of them at once: searches, writes and reads."""
    async with asyncio.timeout(WAIT_S_MAX):
        for number in range(10):
            await caller.put("counter", f"The counter stands at {number}.")
            found = [caller.search(f"counter {number} {place}") for place in range(3)]
            for answer in await asyncio.gather(*found):
                assert f"stands at {number}." in answer.text
            assert (await caller.call("GET", "/v1/documents/counter")).status_code == 200


@pytest.mark.slow
async def test_who_leaves_in_the_middle_of_a_search_breaks_nothing(
    gateway: Gateway, ana: Caller, moody: MoodyEmbedder
) -> None:
    told = await requests_told(gateway, "/v1/search")
    moody.hold()

    for number in range(5):
        async with visit(gateway) as one:
            moody.asked.clear()
            await one.request(
                ana, "POST", "/v1/search", orjson.dumps({"query": f"annual leave {number}"})
            )
            await moody.asked.wait()
    moody.go_on()
    await until_told(gateway, "/v1/search", told + 5)

    await assert_works(ana)


async def test_a_search_that_its_caller_left_is_answered_from_memory_to_the_next(
    gateway: Gateway, ana: Caller, moody: MoodyEmbedder
) -> None:
    told = await requests_told(gateway, "/v1/search")
    moody.hold()
    async with visit(gateway) as one:
        await one.request(ana, "POST", "/v1/search", b'{"query": "annual leave"}')
        await moody.asked.wait()
    moody.go_on()
    await until_told(gateway, "/v1/search", told + 1)

    answer = await ana.search("annual leave")

    assert answer.headers["cache-status"] == "nearhit; hit; detail=memory"
    assert moody.calls == 2  # for the document, and for the question once


@pytest.mark.thorough
@pytest.mark.slow
async def test_who_leaves_while_the_database_works_leaks_no_connection(
    settings: Settings, gateway: Gateway, ana: Caller
) -> None:
    told = await requests_told(gateway, "/v1/search")
    async with locked(settings) as blocked, visit(gateway) as one:
        await one.request(ana, "POST", "/v1/search", b'{"query": "annual leave"}')
        await blocked()
        await one.leave()
    await until_told(gateway, "/v1/search", told + 1)

    await assert_works(ana)


@asynccontextmanager
async def locked(settings: Settings) -> AsyncIterator[Callable[[], "asyncio.Task[None]"]]:
    """Nobody reads or writes chunks; gives a way to wait for somebody who would like to."""
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()
    locker, watcher = await asyncpg.connect(url), await asyncpg.connect(url)

    async def until_blocked() -> None:
        async with asyncio.timeout(WAIT_S_MAX):
            while not await watcher.fetchval(
                "SELECT count(*) FROM pg_locks WHERE relation = 'chunks'::regclass AND NOT granted"
            ):
                await asyncio.sleep(0.005)

    try:
        async with locker.transaction():
            await locker.execute("LOCK TABLE chunks IN ACCESS EXCLUSIVE MODE")
            yield lambda: asyncio.create_task(until_blocked())
    finally:
        await locker.close()
        await watcher.close()


@pytest.mark.sampled("PUT-/v1/documents/half-/v1/documents/{document_id:path}")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "path", "route"),
    [
        ("POST", "/v1/search", "/v1/search"),
        ("PUT", "/v1/documents/half", "/v1/documents/{document_id:path}"),
        ("PATCH", "/v1/documents/leave/access", "/v1/documents/{document_id:path}/access"),
        ("POST", "/v1/documents/batch", "/v1/documents/batch"),
    ],
)
async def test_who_leaves_in_the_middle_of_a_body_has_done_nothing(
    gateway: Gateway, ana: Caller, method: str, path: str, route: str
) -> None:
    told = await requests_told(gateway, route)
    body = b'{"document_id": "half", "text": "Half a document", "query": "x", "readers": []}\n'

    async with visit(gateway) as one:
        await one.request(ana, method, path, body, length=2 * len(body))
    await until_told(gateway, route, told + 1)

    assert (await ana.call("GET", "/v1/documents/half")).status_code == 404
    assert (await ana.search("leave")).headers["nearhit-revision"].startswith("1;")
    await assert_works(ana)


@pytest.mark.slow
async def test_who_leaves_in_the_middle_of_a_write_leaves_it_whole_or_undone(
    settings: Settings, gateway: Gateway, ana: Caller
) -> None:
    route = "/v1/documents/{document_id:path}"
    told = await requests_told(gateway, route)
    async with locked(settings) as blocked, visit(gateway) as one:
        body = orjson.dumps({"text": LEAVE.replace("25", "27"), "title": "Leave"})
        await one.request(ana, "PUT", "/v1/documents/leave", body)
        await blocked()
        await one.leave()
    await until_told(gateway, route, told + 1)

    document = (await ana.call("GET", "/v1/documents/leave")).json()
    (hit,) = (await ana.search("annual leave")).json()["hits"]
    written = (document["title"], document["text"])
    assert written in [("", LEAVE), ("Leave", LEAVE.replace("25", "27"))]
    assert (hit["title"], hit["text"]) == written
    await assert_works(ana)


@pytest.mark.slow
async def test_who_leaves_in_the_middle_of_a_batch_leaves_whole_documents(
    settings: Settings, gateway: Gateway, ana: Caller
) -> None:
    route = "/v1/documents/batch"
    told = await requests_told(gateway, route)
    lines = [{"document_id": f"d{number}", "text": f"Part {number}."} for number in range(50)]
    async with locked(settings) as blocked, visit(gateway) as one:
        await one.request(ana, "POST", route, b"\n".join(map(orjson.dumps, lines)))
        await blocked()
        await one.leave()
    await until_told(gateway, route, told + 1)

    listed = (await ana.call("GET", "/v1/documents")).json()["documents"]
    stored = {document["document_id"] for document in listed} - {"leave"}
    found = set(await ana.found("part", top_k=100, alpha=0))
    assert found == stored
    assert stored <= {line["document_id"] for line in lines}
    await assert_works(ana)


@pytest.mark.thorough
@pytest.mark.slow
async def test_who_does_not_read_the_answer_holds_up_nobody(gateway: Gateway, ana: Caller) -> None:
    for number in range(20):
        await ana.put(f"long-{number}", f"# Long {number}\n\n" + f"Long word{number}. " * 90)
    body = b'{"query": "long", "top_k": 100}'
    async with visit(gateway) as one:
        for _ in range(50):
            await one.request(ana, "POST", "/v1/search", body)

        await assert_works(ana)


@pytest.mark.slow
async def test_a_deadline_that_passes_for_all_is_a_problem_and_ends_the_work(
    hasty: Gateway, moody: MoodyEmbedder
) -> None:
    ana = await writer_of_a_new_tenant(hasty)
    await ana.put("leave", LEAVE)
    moody.hold()

    late = [ana.call("POST", "/v1/search", json={"query": "annual leave"}) for _ in range(3)]
    for answer in await asyncio.gather(*late):
        problem(answer, 504)
        assert int(answer.headers["retry-after"]) > 0
    assert moody.calls == 2  # for the document, and for the question once
    moody.go_on()
    answer = await ana.search("annual leave")

    assert answer.headers["cache-status"] == "nearhit; fwd=miss; stored"
    assert moody.calls == 3
    await assert_works(ana)


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_deadline_that_passes_in_the_database_leaks_no_connection(
    settings: Settings, hasty: Gateway, moody: MoodyEmbedder
) -> None:
    ana = await writer_of_a_new_tenant(hasty)
    await ana.put("leave", LEAVE)

    async with locked(settings):
        late = [ana.call("POST", "/v1/search", json={"query": f"leave {n}"}) for n in range(5)]
        for answer in await asyncio.gather(*late):
            problem(answer, 504)
        assert (await hasty.client.get("/healthz")).status_code == 200

    await assert_works(ana)


@pytest.mark.thorough
@pytest.mark.slow
async def test_one_who_comes_later_has_a_deadline_of_its_own(
    hasty: Gateway, moody: MoodyEmbedder
) -> None:
    ana = await writer_of_a_new_tenant(hasty)
    await ana.put("leave", LEAVE)
    moody.hold()
    first = asyncio.create_task(ana.call("POST", "/v1/search", json={"query": "annual leave"}))
    await asyncio.sleep(0.3)

    second = asyncio.create_task(ana.search("annual leave"))
    problem(await first, 504)
    moody.go_on()

    assert "25 days" in (await second).text
    assert moody.calls == 2


async def test_a_tenants_wait_for_a_lock_stops_no_other(
    settings: Settings, gateway: Gateway, ana: Caller
) -> None:
    """What is in memory is served while the only connection is taken."""
    await ana.search("annual leave")
    async with locked(settings) as blocked:
        waiting = asyncio.create_task(ana.search("another question about leave"))
        await blocked()

        answers = [await ana.search("annual leave") for _ in range(20)]

    assert all("25 days" in answer.text for answer in answers)
    assert "25 days" in (await waiting).text
