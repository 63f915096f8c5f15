"""Rates, requests at once and deadlines, over HTTP, on real servers."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import asyncpg
import httpx2
import pytest
from pydantic import SecretStr

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.servers.database_proxy import database_proxy
from tests.gateway.servers.own_redis import own_redis
from tests.gateway.support.commands import WAIT_S_MAX
from tests.gateway.support.gateways import Caller, Gateway, problem, running

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

SEARCH = {"query": "annual leave"}

Start = Callable[..., AbstractAsyncContextManager[Gateway]]


@pytest.fixture
def start(settings: Settings, embedder: Embedder) -> Start:
    """A worker with other settings."""
    return lambda **fields: running(settings.model_copy(update=fields), embedder)


async def ask(caller: Caller, **kwargs: Any) -> httpx2.Response:
    return await caller.call("POST", "/v1/search", json=SEARCH, **kwargs)


async def statuses(*callers: Caller, times: int) -> list[int]:
    return [(await ask(caller)).status_code for _ in range(times) for caller in callers]


async def refusal(caller: Caller) -> httpx2.Response:
    """The first answer that is none of the 200: a token may come back between two requests."""
    async with asyncio.timeout(WAIT_S_MAX):
        while (answer := await ask(caller)).status_code == 200:
            pass
    return answer


@pytest.mark.slow
async def test_a_key_has_its_rate_on_all_workers_together(start: Start) -> None:
    async with start(key_requests_per_s=5.0) as one, start(key_requests_per_s=5.0) as other:
        await one.tenant("acme")
        ana, ben = await one.caller("ana"), await one.caller("ben")

        started_s = time.monotonic()
        through = await statuses(ana, other.as_(ana), times=25)
        lasted_s = time.monotonic() - started_s
        refused = await refusal(ana)

        assert 10 <= through.count(200) <= 11 + 5 * lasted_s  # full at first, and then the rate
        assert set(through) == {200, 429}
        document = problem(refused, 429)
        assert document["type"] == "urn:nearhit:problem:too-many-requests"
        assert "this key" in document["detail"]
        assert int(refused.headers["retry-after"]) >= 1
        assert refused.headers["ratelimit"].startswith('"key";r=0;t=')
        assert (await ask(ben)).status_code == 200
        await asyncio.sleep(int(refused.headers["retry-after"]))
        assert (await ask(ana)).status_code == 200


@pytest.mark.thorough
@pytest.mark.slow
async def test_who_asks_too_often_takes_nothing_from_others_of_its_tenant(start: Start) -> None:
    async with start(key_requests_per_s=2.0, tenant_requests_per_s=20.0) as gateway:
        await gateway.tenant("acme")
        ana, ben = await gateway.caller("ana"), await gateway.caller("ben")

        refused = (await statuses(ana, times=120)).count(429)

        assert refused > 60
        assert await statuses(ben, times=3) == [200] * 3


@pytest.mark.thorough
@pytest.mark.slow
async def test_without_redis_all_tokens_of_a_key_together_have_its_rate(start: Start) -> None:
    async with own_redis() as redis:
        url = SecretStr(redis.url)
        async with start(
            redis_url=url, key_requests_per_s=5.0, tenant_requests_per_s=1_000.0
        ) as gateway:
            await gateway.tenant("acme")
            ana, ben = await gateway.caller("ana"), await gateway.caller("ben")
            made = [await ana.call("POST", "/v1/tokens", json={}) for _ in range(8)]
            tokens = [Caller(gateway.client, each.json()["token"]) for each in made]
            await redis.kill()

            began_s = time.monotonic()
            through = await statuses(*tokens, times=10)
            passed_s = time.monotonic() - began_s

            assert through.count(200) <= 10 + 5.0 * passed_s + 1
            assert set(through) == {200, 429}
            assert (await ask(ben)).status_code == 200


@pytest.mark.slow
async def test_without_redis_all_callers_of_a_tenant_together_have_its_rate(start: Start) -> None:
    async with own_redis() as redis:
        url = SecretStr(redis.url)
        async with start(
            redis_url=url, key_requests_per_s=1_000.0, tenant_requests_per_s=20.0
        ) as gateway:
            await gateway.tenant("acme")
            callers = [await gateway.caller(f"c{number}") for number in range(8)]
            await redis.kill()

            began_s = time.monotonic()
            through = await statuses(*callers, times=15)
            passed_s = time.monotonic() - began_s

            assert through.count(200) <= 40 + 20.0 * passed_s + 1
            assert set(through) == {200, 429}


@pytest.mark.slow
async def test_whoever_has_no_token_at_hand_waits_for_both_servers_at_once(
    settings: Settings, start: Start
) -> None:
    """Most agents do: they come once in a second or two."""
    assert settings.redis_url is not None
    async with (
        database_proxy(settings.redis_url.get_secret_value()) as wire,
        start(
            redis_url=SecretStr(wire.url), redis_timeout_s=WAIT_S_MAX, key_requests_per_s=5.0
        ) as gateway,
    ):
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        await ask(ana)
        before = await revisions_read(gateway)

        wire.hold()
        waiting = asyncio.create_task(ask(ana))
        async with asyncio.timeout(WAIT_S_MAX):
            while not (wire.held and await revisions_read(gateway) > before):
                await asyncio.sleep(0.01)

        assert not waiting.done()
        wire.mend()
        assert (await waiting).status_code == 200


async def revisions_read(gateway: Gateway) -> float:
    return await gateway.counted(
        "nearhit_sql_statement_duration_seconds_count", statement="tenants.revisions"
    )


@pytest.mark.slow
async def test_a_thread_that_computes_gives_way_sooner_than_python_has_it(start: Start) -> None:
    usual_s = sys.getswitchinterval()
    sys.setswitchinterval(0.005)
    try:
        async with start() as gateway:
            await gateway.client.get("/healthz")
            assert sys.getswitchinterval() < 0.001
    finally:
        sys.setswitchinterval(usual_s)


@pytest.mark.slow
async def test_a_tenant_has_its_rate_and_others_have_their_own(start: Start) -> None:
    async with start(tenant_requests_per_s=5.0, key_requests_per_s=0.0) as gateway:
        await gateway.tenant("acme")
        await gateway.tenant("beta")
        callers = [await gateway.caller(name) for name in ("ana", "ben")]
        stranger = await gateway.caller("ana", tenant="beta")

        through = await statuses(*callers, times=15)

        assert 10 <= through.count(200) <= 20
        assert "this tenant" in problem(await refusal(callers[0]), 429)["detail"]
        assert (await ask(stranger)).status_code == 200


@pytest.mark.slow
async def test_tokens_count_for_their_subject_however_many_there_are(start: Start) -> None:
    async with start(key_requests_per_s=5.0) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        made = [await ana.call("POST", "/v1/tokens", json={}) for _ in range(4)]
        tokens = [Caller(gateway.client, answer.json()["token"]) for answer in made]

        through = await statuses(*tokens, times=10)

        assert through.count(200) < 20


async def test_what_is_left_is_told_with_each_answer(gateway: Gateway, ana: Caller) -> None:
    answers = [await ask(ana) for _ in range(3)]

    assert all(answer.headers["ratelimit"].startswith('"key";r=') for answer in answers)
    left = [int(answer.headers["ratelimit"].split(";")[1][2:]) for answer in answers]
    assert all(990 <= each <= 1_000 for each in left)
    assert "ratelimit" not in (await gateway.client.get("/healthz")).headers


@pytest.mark.slow
async def test_without_limits_nobody_is_counted(start: Start) -> None:
    async with start(key_requests_per_s=0.0, tenant_requests_per_s=0.0) as gateway:
        await gateway.tenant("acme")

        answer = await ask(await gateway.caller("ana"))

    assert answer.status_code == 200
    assert "ratelimit" not in answer.headers


@pytest.mark.thorough
@pytest.mark.slow
async def test_without_redis_each_worker_counts_by_itself(start: Start) -> None:
    away = SecretStr("redis://127.0.0.1:1/0")
    async with start(key_requests_per_s=5.0, redis_url=away) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")

        through = await statuses(ana, times=25)

    assert 10 <= through.count(200) <= 20
    assert set(through) == {200, 429}


@pytest.fixture
async def blocked(
    gateway: Gateway, database_url: str
) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    """A connection that holds what every search needs, until it rolls back."""
    connection = await asyncpg.connect(database_url)
    await connection.execute("BEGIN; LOCK TABLE documents IN ACCESS EXCLUSIVE MODE")
    yield connection
    await connection.close()


@pytest.mark.sampled("0.2")
@pytest.mark.slow
@pytest.mark.isolated
@pytest.mark.usefixtures("blocked")
@pytest.mark.parametrize("given", ["0.2", "0.200000"])
async def test_a_caller_that_waits_no_longer_gets_a_504_and_its_statement_ends(
    gateway: Gateway, ana: Caller, database_url: str, given: str
) -> None:
    loop = asyncio.get_running_loop()
    began_s = loop.time()

    answer = await ask(ana, headers={"Request-Timeout": given})

    assert problem(answer, 504)["type"] == "urn:nearhit:problem:deadline-exceeded"
    assert loop.time() - began_s < 3
    connection = await asyncpg.connect(database_url)
    for _ in range(50):
        waiting = await connection.fetchval(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        if not waiting:
            break
        await asyncio.sleep(0.1)
    await connection.close()
    assert waiting == 0


@pytest.mark.slow
async def test_the_server_ends_a_search_at_the_deadline_if_the_gateway_is_gone(
    start: Start, database_url: str
) -> None:
    """Not even a request to cancel the statement gets through."""
    async with (
        database_proxy(database_url) as wire,
        start(database_url=SecretStr(wire.url), deadline_s=2.0) as gateway,
    ):
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        await ask(ana)
        connection = await asyncpg.connect(database_url)
        await connection.execute("BEGIN; LOCK TABLE documents IN ACCESS EXCLUSIVE MODE")
        asking = asyncio.create_task(ana.call("POST", "/v1/search", json={"query": "new"}))
        await until_waiting(database_url, 1)

        wire.hold()

        await until_waiting(database_url, 0)
        await connection.close()
        wire.mend()
        await asking


async def until_waiting(url: str, number: int) -> None:
    """So many statements wait for a lock; a test fails if that takes long, and 30 s is too long."""
    watcher = await asyncpg.connect(url)
    async with asyncio.timeout(60):
        while number != await watcher.fetchval(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        ):
            await asyncio.sleep(0.02)
    await watcher.close()


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_tenant_that_has_all_its_connections_in_use_is_told_so(
    start: Start, database_url: str
) -> None:
    async with start(database_connections=2, deadline_s=20.0) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        await ask(ana)
        connection = await asyncpg.connect(database_url)
        await connection.execute("BEGIN; LOCK TABLE documents IN ACCESS EXCLUSIVE MODE")
        waiting = [
            asyncio.create_task(ana.call("POST", "/v1/search", json={"query": f"new {number}"}))
            for number in range(2)
        ]

        (refused,), _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)

        assert "of the tenant's requests" in problem(refused.result(), 429)["detail"]
        await connection.close()
        assert sorted([(await task).status_code for task in waiting]) == [200, 429]


@pytest.mark.thorough
@pytest.mark.slow
async def test_writes_of_a_tenant_that_wait_leave_connections_to_others(
    start: Start, database_url: str
) -> None:
    async with start(database_connections=4) as gateway:
        await gateway.tenant("acme")
        await gateway.tenant("beta")
        ana, ben = await gateway.caller("ana"), await gateway.caller("ben", tenant="beta")
        connection = await asyncpg.connect(database_url)
        await connection.execute("BEGIN; SELECT FROM tenants WHERE tenant = 'acme' FOR UPDATE")
        waiting = [
            asyncio.create_task(ana.call("PUT", f"/v1/documents/{number}", json={"text": "x"}))
            for number in range(20)
        ]
        await until_waiting(database_url, 2)

        written = await ben.call("PUT", "/v1/documents/x", json={"text": "x"})

        assert written.status_code == 200, written.text
        await connection.close()
        await asyncio.wait(waiting)


@pytest.mark.isolated
@pytest.mark.usefixtures("blocked")
async def test_the_callers_deadline_holds_for_writes_too(ana: Caller) -> None:
    answer = await ana.call(
        "PUT", "/v1/documents/x", json={"text": "x"}, headers={"Request-Timeout": "0.2"}
    )

    problem(answer, 504)


@pytest.mark.parametrize("given", ["0", "0.0", "-1", "soon", "1e3", "", "9" * 20, "1s", "٣"])
async def test_a_timeout_is_a_number_of_seconds(gateway: Gateway, ana: Caller, given: str) -> None:
    headers = [
        (b"Request-Timeout", given.encode()),
        (b"Authorization", f"Bearer {ana.key}".encode()),
    ]

    answer = await gateway.client.post("/v1/search", json=SEARCH, headers=headers)

    assert problem(answer, 422)["errors"][0]["field"] == "Request-Timeout"


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_tenant_that_has_too_much_under_way_is_told_so_and_others_are_served(
    start: Start, database_url: str
) -> None:
    async with start(concurrent_requests_max=12, deadline_s=20.0) as gateway:
        await gateway.tenant("acme")
        await gateway.tenant("beta")
        ana = await gateway.caller("ana")
        ben = await gateway.caller("ben", tenant="beta")
        await ask(ana)
        connection = await asyncpg.connect(database_url)
        await connection.execute("BEGIN; LOCK TABLE documents IN ACCESS EXCLUSIVE MODE")
        waiting = [
            asyncio.create_task(ana.call("POST", "/v1/search", json={"query": f"new {number}"}))
            for number in range(5)
        ]
        done, _ = await asyncio.wait(waiting, timeout=2)
        listed = await ben.call("POST", "/v1/keys", json={})  # a 403: it got through

        assert [problem(task.result(), 429)["status"] for task in done] == [429, 429]
        assert listed.status_code == 403
        await connection.close()
        served = [(await task).status_code for task in waiting]
        assert sorted(served) == [200, 200, 200, 429, 429]
        assert (await ask(ana)).status_code == 200


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_worker_that_has_too_much_to_do_says_so_at_once_and_stays_alive(
    start: Start, database_url: str
) -> None:
    async with start(concurrent_requests_max=2, deadline_s=20.0) as gateway:
        callers = list[Caller]()
        for tenant in ("acme", "beta", "gamma"):  # one may have a place, as each of the others
            await gateway.tenant(tenant)
            callers.append(await gateway.caller("ana", tenant=tenant))
        *busy, last = callers
        connection = await asyncpg.connect(database_url)
        await connection.execute("BEGIN; LOCK TABLE documents IN ACCESS EXCLUSIVE MODE")
        waiting = [
            asyncio.create_task(each.call("POST", "/v1/search", json={"query": "new"}))
            for each in busy
        ]
        await asyncio.wait(waiting, timeout=0.5)

        shed = await ask(last)
        alive = await gateway.client.get("/healthz")

        assert problem(shed, 503)["type"] == "urn:nearhit:problem:overloaded"
        assert shed.headers["retry-after"] == "1"
        assert alive.status_code == 200
        await connection.close()
        assert [(await task).status_code for task in waiting] == [200, 200]
        assert (await ask(last)).status_code == 200
