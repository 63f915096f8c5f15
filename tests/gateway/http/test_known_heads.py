"""A request whose head came before gets the response of the usual way, or takes it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from pydantic import SecretStr

from gateway.http.known_heads import (
    REQUEST_BYTES_MAX,
    OnResponse,
    RecallingRequest,
)
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.servers.database_proxy import database_proxy
from tests.gateway.support.commands import WAIT_S_MAX
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.support.leases import readings
from tests.gateway.support.raw_http import RawAnswer, RawConnection, raw

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

TOKENS_LAST_S = 1.1  # fetched ahead by a worker
OF_EACH_REQUEST = {"date", "server-timing", "x-request-id", "ratelimit"}

Start = Callable[..., AbstractAsyncContextManager[Gateway]]


@pytest.fixture
def start(settings: Settings, embedder: Embedder) -> Start:
    """A worker with other settings."""
    return lambda **fields: running(settings.model_copy(update=fields), embedder)


def watched(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each repeat in turn, whether it was answered without the application."""
    seen: list[bool] = []
    begin = RecallingRequest.begin

    def watching(self: RecallingRequest, on_response: OnResponse) -> None:
        def noted(response: Any) -> None:
            seen.append(response is not None)
            on_response(response)

        begin(self, noted)

    monkeypatch.setattr(RecallingRequest, "begin", watching)
    return seen


@pytest.fixture
def outcomes(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    return watched(monkeypatch)


@pytest.fixture
async def connection(gateway: Gateway) -> AsyncIterator[RawConnection]:
    async with raw(gateway) as connected:
        yield connected


def request(caller: Caller, query: str = "annual leave", *lines: str, **fields: Any) -> bytes:
    body = orjson.dumps({"query": query, **fields})
    head = [
        "POST /v1/search HTTP/1.1",
        "Host: x",
        f"Authorization: Bearer {caller.key}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *lines,
    ]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


async def ask(connection: RawConnection, sent: bytes) -> RawAnswer:
    await connection.send(sent)
    return await connection.answer()


async def ask_often(connection: RawConnection, sent: bytes, times: int) -> list[RawAnswer]:
    return [await ask(connection, sent) for _ in range(times)]


async def ask_repeat(connection: RawConnection, sent: bytes, outcomes: list[bool]) -> RawAnswer:
    """The first answer that is given without the application.

    A repeat takes the usual way too if the worker has no token of the rates ahead, or is busy.
    """
    outcomes.clear()
    async with asyncio.timeout(WAIT_S_MAX):
        while True not in outcomes:
            answer = await ask(connection, sent)
    return answer


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"top_k": 1, "explain": True},
        {"filter": {"tags_any": ["hr"]}, "alpha": 0.0},
        {"max_staleness_ms": 60_000},
        {"rerank": True, "context": {"token_budget": 200}},
        {"scopes": ["private"]},
        {"semantic": "bounded"},
    ],
)
async def test_a_repeat_gets_the_response_of_the_usual_way(
    gateway: Gateway,
    ana: Caller,
    connection: RawConnection,
    outcomes: list[bool],
    fields: dict[str, Any],
) -> None:
    await ana.put("leave", "Annual leave is thirty days.", tags=["hr"])
    sent = request(ana, **fields)
    await ask(connection, sent)  # fills memory
    # A header that means nothing makes other bytes, so this one takes the usual way.
    usual = await ask(connection, request(ana, "annual leave", "X-Other: 1", **fields))
    assert outcomes == []

    repeated = await ask_repeat(connection, sent, outcomes)

    assert (repeated.status, repeated.body) == (usual.status, usual.body)
    assert repeated.headers.keys() == usual.headers.keys()
    for name in usual.headers.keys() - OF_EACH_REQUEST:
        assert repeated.headers[name] == usual.headers[name], name
    assert repeated.headers["cache-status"] == "nearhit; hit; detail=memory"
    timings = [
        [part.partition(";")[0] for part in each.headers["server-timing"].split(", ")]
        for each in (repeated, usual)
    ]
    assert timings[0] == [name for name in timings[1] if name != "parse"]


async def test_a_repeat_after_an_edit_gets_the_edited_text(
    gateway: Gateway, ana: Caller, connection: RawConnection, outcomes: list[bool]
) -> None:
    sent = request(ana)
    for days in ("thirty", "forty", "fifty"):
        await ana.put("leave", f"Annual leave is {days} days.")

        first = await ask(connection, sent)
        second = await ask_repeat(connection, sent, outcomes)

        assert days in first.body.decode()
        assert first.body == second.body


async def test_a_repeat_with_a_revoked_key_is_refused(
    gateway: Gateway, connection: RawConnection, outcomes: list[bool]
) -> None:
    key = await gateway.operator.call(
        "POST", "/v1/keys", json={"tenant": gateway.tenant_name, "subject": "eve"}
    )
    sent = request(Caller(gateway.client, key.json()["key"]))
    assert (await ask_repeat(connection, sent, outcomes)).status == 200
    await gateway.operator.call("DELETE", f"/v1/keys/{key.json()['id']}")

    after = await ask_often(connection, sent, 2)

    assert [each.status for each in after] == [401, 401]


async def test_a_repeat_of_who_left_a_group_finds_what_the_caller_may_read_now(
    gateway: Gateway, ana: Caller, connection: RawConnection
) -> None:
    admin = await gateway.caller("admin", roles=["admin"])
    membership = "/v1/groups/staff/members/ben"
    assert (await admin.call("PUT", membership)).status_code < 300
    ben = await gateway.caller("ben")
    await ana.put("leave", "Annual leave is thirty days.", readers=["group:staff"])
    sent = request(ben)
    member = await ask_often(connection, sent, 2)
    assert (await admin.call("DELETE", membership)).status_code < 300

    left = await ask_often(connection, sent, 2)

    found = [len(orjson.loads(each.body)["hits"]) for each in (*member, *left)]
    assert found == [1, 1, 0, 0]


async def test_a_repeat_with_an_expired_key_is_refused(
    gateway: Gateway, connection: RawConnection
) -> None:
    expires_at = datetime.now(UTC) + timedelta(seconds=1)
    eve = await gateway.caller("eve", expires_at=expires_at.isoformat())
    sent = request(eve)
    before = await ask_often(connection, sent, 2)
    while datetime.now(UTC) <= expires_at:
        await asyncio.sleep(0.05)

    after = await ask(connection, sent)

    assert [each.status for each in (*before, after)] == [200, 200, 401]


@pytest.mark.thorough
@pytest.mark.slow
async def test_known_heads_count_against_the_rate(start: Start, outcomes: list[bool]) -> None:
    clock_s = asyncio.get_running_loop().time
    async with start(key_requests_per_s=50.0, tenant_requests_per_s=0.0) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        async with raw(gateway) as connection:
            began_s = clock_s()
            answers = await ask_often(connection, request(ana), 1_000)
            took_s = clock_s() - began_s

    statuses = [each.status for each in answers]
    assert set(statuses) == {200, 429}
    assert 100 <= statuses.count(200) <= 100 + 50 * took_s + 1
    assert outcomes.count(True) > 20
    left = [
        int(each.headers["ratelimit"].split(";")[1].removeprefix("r="))
        for each in answers
        if each.status == 200
    ]
    assert left[0] > left[-1]


@pytest.mark.slow
@pytest.mark.isolated
async def test_a_repeat_whose_tokens_have_to_be_fetched_reads_the_revision_once(
    gateway: Gateway, ana: Caller, connection: RawConnection, outcomes: list[bool]
) -> None:
    await ana.put("leave", "Everybody has 25 days of annual leave.")
    await ask_repeat(connection, request(ana), outcomes)
    await asyncio.sleep(TOKENS_LAST_S)
    before, outcomes[:] = await readings(gateway), []

    answer = await ask(connection, request(ana))

    assert (answer.status, outcomes) == (200, [])
    assert await readings(gateway) == before + 1


async def test_known_heads_count_against_requests_at_once(start: Start, database_url: str) -> None:
    async with (
        database_proxy(database_url) as wire,
        start(concurrent_requests_max=4, database_url=SecretStr(wire.url)) as gateway,
    ):
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        sent = request(ana)
        async with raw(gateway) as one, raw(gateway) as other:
            await ask_often(one, sent, 2)
            wire.hold()
            waiting = asyncio.create_task(ask(one, sent))
            while not wire.held:
                await asyncio.sleep(0.001)
            refused = await ask(other, sent)
            wire.mend()

            assert refused.status == 429
            assert (await waiting).status == 200


@pytest.mark.isolated
async def test_known_heads_are_logged_and_counted_as_other_requests(
    gateway: Gateway, ana: Caller, connection: RawConnection, outcomes: list[bool]
) -> None:
    series = {"route": "/v1/search", "status": "200", "tier": "memory"}
    name = "nearhit_http_request_duration_seconds_count"
    await ask_repeat(connection, request(ana), outcomes)
    before = await gateway.counted(name, **series), (await gateway.answers())["memory"]

    # A request that arrives while the connection still sends reports no outcome, so all count.
    asked = 0
    outcomes.clear()
    async with asyncio.timeout(WAIT_S_MAX):
        while True not in outcomes:
            await ask(connection, request(ana))
            asked += 1

    after = await gateway.counted(name, **series), (await gateway.answers())["memory"]
    assert (after[0] - before[0], after[1] - before[1]) == (asked, asked)


async def test_a_repeat_keeps_the_id_that_its_client_gave_and_no_other(
    gateway: Gateway, ana: Caller, connection: RawConnection, outcomes: list[bool]
) -> None:
    ids: dict[tuple[str, ...], set[str]] = {}
    for lines in ((), ("X-Request-Id: mine",), ("X-Request-Id: not one!",)):
        sent = request(ana, "leave", *lines)
        answers = [await ask(connection, sent)]
        answers += [await ask_repeat(connection, sent, outcomes) for _ in range(2)]
        ids[lines] = {each.headers["x-request-id"] for each in answers}

    assert ids["X-Request-Id: mine",] == {"mine"}
    assert len(ids[()] | ids["X-Request-Id: not one!",]) == 6


async def test_requests_in_one_packet_are_answered_in_order(
    gateway: Gateway, ana: Caller, connection: RawConnection, outcomes: list[bool]
) -> None:
    await ana.put("leave", "Annual leave is thirty days.")
    await ana.put("pay", "Pay comes monthly.")
    leave, pay = request(ana), request(ana, "monthly pay")
    alone = [await ask(connection, each) for each in (leave, pay)]

    await connection.send(leave)
    await connection.send(pay + leave)
    await connection.send(pay)
    together = [await connection.answer() for _ in range(4)]

    assert [each.body for each in together] == [each.body for each in (*alone, *alone)]


@pytest.mark.parametrize("cut_at", [1, 40, -1])
async def test_a_repeat_in_two_packets_takes_the_usual_way(
    gateway: Gateway,
    ana: Caller,
    connection: RawConnection,
    outcomes: list[bool],
    cut_at: int,
) -> None:
    sent = request(ana)
    first = await ask(connection, sent)

    await connection.send(sent[:cut_at])
    await asyncio.sleep(0.02)
    await connection.send(sent[cut_at:])

    assert (await connection.answer()).body == first.body
    assert outcomes == []


@pytest.mark.sampled("lines1")
@pytest.mark.parametrize(
    "lines",
    [
        ("Request-Timeout: 5",),
        ("Connection: close",),
        ("X-Long: " + "x" * REQUEST_BYTES_MAX,),
    ],
)
async def test_what_has_to_be_checked_anew_is_not_remembered(
    start: Start,
    outcomes: list[bool],
    lines: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.http.transport.connections.HEAD_BYTES_MAX", 2 * REQUEST_BYTES_MAX)
    async with start() as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        for _ in range(3):
            async with raw(gateway) as connection:
                assert (await ask(connection, request(ana, "leave", *lines))).status == 200

    assert outcomes == []


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_repeat_waits_as_long_as_other_requests_while_postgresql_hangs(
    start: Start, database_url: str, outcomes: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And those that follow take the usual way, as the next would wait in vain too."""
    monkeypatch.setattr("gateway.http.known_heads._PAUSE_S", WAIT_S_MAX)
    unlimited = {"key_requests_per_s": 0.0, "tenant_requests_per_s": 0.0}
    async with (
        database_proxy(database_url) as wire,
        start(deadline_s=0.5, database_url=SecretStr(wire.url), **unlimited) as gateway,
    ):
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        async with raw(gateway) as connection:
            sent = request(ana)
            await ask_repeat(connection, sent, outcomes)
            wire.hold()
            outcomes.clear()
            began_s = asyncio.get_running_loop().time()
            late = await ask(connection, sent)
            took_s = asyncio.get_running_loop().time() - began_s
            wire.mend()

            assert late.status in (503, 504)
            assert took_s < WAIT_S_MAX
            assert (await ask(connection, sent)).status == 200
            assert outcomes == [False]


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_client_that_leaves_while_its_repeat_waits_disturbs_nobody(
    start: Start, database_url: str, outcomes: list[bool]
) -> None:
    async with (
        database_proxy(database_url) as wire,
        start(database_url=SecretStr(wire.url), concurrent_requests_max=8) as gateway,
    ):
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        sent = request(ana)
        for _ in range(4):  # more than may be under way at once: each leaves its place
            async with raw(gateway) as leaving:
                await ask(leaving, sent)
                wire.held = 0
                wire.hold()
                await leaving.send(sent)
                while not wire.held:
                    await asyncio.sleep(0.001)
            wire.mend()

        async with raw(gateway) as connection:
            assert (await ask(connection, sent)).status == 200


async def test_a_failure_of_the_short_way_leads_to_the_usual_one(
    ana: Caller, connection: RawConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = []

    def broken(*_arguments: object) -> None:
        failures.append("broken")
        raise RuntimeError(failures[-1])

    monkeypatch.setattr("gateway.search.search_endpoint._KnownSearch.recall", broken)
    sent = request(ana)
    first = await ask(connection, sent)

    async with asyncio.timeout(WAIT_S_MAX):
        while not failures:
            answer = await ask(connection, sent)

    assert (answer.status, answer.body) == (200, first.body)
