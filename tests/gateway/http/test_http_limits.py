"""Heads, framing and connections beyond their limits, over real sockets."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack

import pytest

from gateway.http.transport.connections import RESERVE_MAX
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.event_listener import subscribe
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.gateway.support.raw_http import RawConnection, ask_raw, head, raw, search

pytestmark = pytest.mark.anyio

CONNECTIONS = "gateway.http.transport.connections"
Start = Callable[..., AbstractAsyncContextManager[Gateway]]


@pytest.fixture
def start(settings: Settings, embedder: Embedder) -> Start:
    """A worker with other settings."""
    return lambda **fields: running(settings.model_copy(update=fields), embedder)


@pytest.mark.isolated
async def test_a_head_beyond_its_limit_is_refused_before_it_has_ended(gateway: Gateway) -> None:
    async with raw(gateway) as connection:
        await connection.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 32_768)
        answer = await connection.answer()

        assert (answer.status, answer.kind) == (431, "headers-too-large")
        assert answer.headers["connection"] == "close"
        assert await connection.end() == b""
    assert (
        await gateway.counted(
            "nearhit_http_request_duration_seconds_count", route="", status="431", tier=""
        )
        == 1
    )


async def test_a_head_of_just_the_limit_is_taken_whole_or_byte_by_byte(gateway: Gateway) -> None:
    begin = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX: "
    whole = begin + b"a" * (32_768 - len(begin) - 4) + b"\r\n\r\n"

    assert (await ask_raw(gateway, whole)).status == 200
    async with raw(gateway) as connection:
        for place in range(0, len(whole), 997):
            await connection.send(whole[place : place + 997])
        assert (await connection.answer()).status == 200
    assert (await ask_raw(gateway, whole.replace(b"X: ", b"X: a"))).status == 431


async def test_a_large_head_takes_time_by_its_size_and_no_more(gateway: Gateway) -> None:
    """One that is never refused would be read to its end before anybody else is answered."""
    async with raw(gateway) as connection:
        sending = asyncio.create_task(connection.send(b"GET / HTTP/1.1\r\nX: " + b"a" * 33_554_432))
        answer = await connection.answer()
        alive = await gateway.client.get("/healthz")
        connection.reset()
        await sending

    assert answer.status == 431
    assert alive.status_code == 200


async def test_too_many_headers_are_refused(gateway: Gateway) -> None:
    lines = [b"X-%d: 1" % number for number in range(100)]

    assert (await ask_raw(gateway, head(None, *lines))).kind == "headers-too-large"


@pytest.mark.parametrize("end", [b"", b" HTTP/1.1\r\nHost: x\r\n\r\n"])
async def test_a_long_url_is_refused(gateway: Gateway, end: bytes) -> None:
    answer = await ask_raw(gateway, b"GET /" + b"a" * 8_300 + end)

    assert (answer.status, answer.kind) == (414, "url-too-long")


CHUNKED = b"Transfer-Encoding: chunked"


@pytest.mark.parametrize(
    "sent",
    [
        head(None, b"Content-Length: 5", CHUNKED) + b"0\r\n\r\n",
        head(None, CHUNKED, b"Content-Length: 5") + b"0\r\n\r\n",
        head(None, b"Content-Length: 5", b"Content-Length: 5") + b"abcde",
        head(None, b"Content-Length: 5, 5") + b"abcde",
        head(None, b"Content-Length: +5") + b"abcde",
        head(None, b"Content-Length: 0x5") + b"abcde",
        head(None, b"Content-Length: -1"),
        head(None, b"Content-Length: 99999999999999999999"),
        head(None, b"Content-Length : 5") + b"abcde",
        head(None, b"Transfer-Encoding: xchunked") + b"0\r\n\r\n",
        head(None, b"Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n",
        head(None, CHUNKED, CHUNKED) + b"0\r\n\r\n",
        head(None, CHUNKED).replace(b"/1.1", b"/1.0") + b"0\r\n\r\n",
        head(None, b"X: a\r\n b"),
        head(None, b"X: a\nY: b"),
        head(None, b"X: a\rb"),
        head(None, b"X: a\0b"),
        head(None, b"Host: y"),
        head(None, b"Authorization: Bearer a", b"Authorization: Bearer b"),
        head(None, b"Connection: Upgrade", b"Upgrade: h2c", b"Content-Length: 3") + b"abc",
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\nHost: x\n\n",
        b"GET /healthz\r\n\r\n",
        b"GET /healthz HTTP/2.0\r\nHost: x\r\n\r\n",
        b"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\r\n\r\n",
    ],
)
async def test_a_request_that_could_be_read_in_two_ways_is_refused_and_its_connection_closed(
    gateway: Gateway, sent: bytes
) -> None:
    answer = await ask_raw(gateway, sent + b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 2)

    assert (answer.status, answer.kind) == (400, "malformed-request")
    assert answer.headers["connection"] == "close"


@pytest.mark.parametrize("body", [b"1\nx\n0\n\n", b"1\r\nxy\r\n0\r\n\r\n", b"-1\r\n", b"g\r\n"])
async def test_a_broken_chunk_is_refused_and_the_connection_closed(
    gateway: Gateway, ana: Caller, body: bytes
) -> None:
    async with raw(gateway) as connection:
        await connection.send(head(ana, CHUNKED) + body)

        assert (await connection.answer()).status == 400
        assert await connection.end() == b""


@pytest.mark.parametrize(
    "body",
    [
        b"1\r\n \r\n" * 20_000,
        b"1;" + b"a" * 40_000 + b"\r\n \r\n0\r\n\r\n",
        b"1\r\n \r\n0\r\n" + b"X: a\r\n" * 8_000 + b"\r\n",
    ],
    ids=["tiny chunks", "an extension", "trailers"],
)
async def test_a_chunked_body_of_little_but_framing_is_refused(
    gateway: Gateway, ana: Caller, body: bytes
) -> None:
    async with raw(gateway) as connection:
        await connection.send(head(ana, CHUNKED) + body)

        answer = await connection.answer()
        assert (answer.status, answer.kind) == (400, "malformed-request")
        assert await connection.end() == b""


async def test_a_chunked_body_is_read_and_its_trailers_are_no_headers(
    gateway: Gateway, ana: Caller
) -> None:
    body = b'9\r\n{"query":\r\n8\r\n"leave"}\r\n0\r\nAuthorization: Bearer %b\r\n\r\n'
    key = (ana.key or "").encode()

    async with raw(gateway) as connection:
        await connection.send(head(ana, CHUNKED) + body % key)
        assert (await connection.answer()).status == 200
        await connection.send(head(None, CHUNKED) + body % key)
        assert (await connection.answer()).status == 401


async def test_pipelined_requests_are_answered_in_order(gateway: Gateway, ana: Caller) -> None:
    async with raw(gateway) as connection:
        await connection.send((search(ana) + search(None) + search(ana, b"{}")) * 20)

        for _ in range(20):
            assert [(await connection.answer()).status for _ in range(3)] == [200, 401, 422]


@pytest.mark.thorough
@pytest.mark.slow
async def test_what_is_pipelined_waits_unread_while_a_request_is_answered(
    gateway: Gateway, ana: Caller
) -> None:
    """So that a client fills its own memory with requests, and not the worker's."""
    flood = head(None, method=b"GET", path=b"/openapi.json") * 200_000
    async with raw(gateway) as connection:
        sending = asyncio.create_task(connection.send(flood))
        done, _ = await asyncio.wait([sending], timeout=1)
        alive = await gateway.client.get("/healthz")
        connection.reset()
        await asyncio.wait([sending])

    assert not done
    assert alive.status_code == 200


async def test_a_request_behind_a_chunked_one_is_left_and_the_connection_closed(
    gateway: Gateway, ana: Caller
) -> None:
    body = b'12\r\n{"query": "leave"}\r\n0\r\n\r\n'

    answer = await ask_raw(gateway, head(ana, CHUNKED) + body + search(ana))

    assert answer.status == 200
    assert answer.headers["connection"] == "close"


@pytest.mark.thorough
@pytest.mark.slow
async def test_half_a_head_and_a_silent_connection_are_closed_in_time(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{CONNECTIONS}.HEADERS_DEADLINE_S", 0.5)
    async with (
        start() as gateway,
        raw(gateway) as half,
        raw(gateway) as silent,
    ):
        await half.send(b"GET /healthz HTTP/1.1\r\nHos")

        answer = await half.answer()

        assert (answer.status, answer.kind) == (408, "request-timeout")
        assert await half.end() == b""
        assert await silent.end() == b""


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_used_connection_has_its_keep_alive_until_the_next_head_begins(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{CONNECTIONS}.HEADERS_DEADLINE_S", 0.5)
    healthy = head(None, method=b"GET", path=b"/healthz")
    async with start() as gateway, raw(gateway) as connection:
        await connection.send(healthy)
        await connection.answer()
        await asyncio.sleep(1.2)
        await connection.send(healthy)
        assert (await connection.answer()).status == 200

        await connection.send(healthy[:10])
        assert (await connection.answer()).status == 408


@pytest.mark.slow
async def test_silent_connections_of_an_address_give_way_to_new_ones(start: Start) -> None:
    async with start(connections_max=160) as gateway, AsyncExitStack() as stack:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        oldest, *_ = [await stack.enter_async_context(raw(gateway)) for _ in range(30)]

        async with raw(gateway) as newest:
            await newest.send(search(ana))
            assert (await newest.answer()).status == 200
        assert await oldest.end() == b""
        assert (await gateway.client.get("/healthz")).status_code == 200


async def searched(gateway: Gateway, stack: AsyncExitStack, caller: Caller) -> RawConnection:
    """A connection on which the caller has searched."""
    connection = await stack.enter_async_context(raw(gateway))
    await connection.send(search(caller))
    assert (await connection.answer()).status == 200
    return connection


@pytest.mark.thorough
async def test_a_tenant_that_takes_all_connections_makes_room_for_another(start: Start) -> None:
    async with (
        start(connections_max=32, trusted_proxies="127.0.0.1") as gateway,
        AsyncExitStack() as stack,
    ):
        await gateway.tenant("acme")
        await gateway.tenant("beta")
        ana, ben = await gateway.caller("ana"), await gateway.caller("ben", tenant="beta")
        greedy = [await searched(gateway, stack, ana) for _ in range(40)]
        new = [await stack.enter_async_context(raw(gateway)) for _ in range(4)]

        for each in new:
            await each.send(search(ben))

        assert [(await each.answer()).status for each in new] == [200] * 4
        assert await greedy[0].end() == b""
        await greedy[-1].send(search(ana))
        assert (await greedy[-1].answer()).status == 200


async def events_of(caller: Caller) -> bytes:
    """A request for the events of a new subscription, whose answer is a stream."""
    path = f"/v1/subscriptions/{await subscribe(caller, 'leave')}/events"
    return head(caller, method=b"GET", path=path.encode())


async def test_connections_with_requests_in_progress_do_not_give_way_and_probes_get_through(
    start: Start,
) -> None:
    async with start(connections_max=64) as gateway, AsyncExitStack() as stack:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        sent = await events_of(ana)
        for _ in range(4):
            stream = await stack.enter_async_context(raw(gateway))
            await stream.send(sent)
            assert (await stream.answer()).status == 200

        refused = await ask_raw(gateway, search(ana))
        probes = [
            await ask_raw(gateway, head(None, method=b"GET", path=path))
            for path in (b"/healthz", b"/readyz", b"/metrics")
        ]

        assert (refused.status, refused.kind) == (429, "too-many-requests")
        assert [each.status for each in probes] == [200, 200, 200]
        assert {each.headers["connection"] for each in (refused, *probes)} == {"close"}


async def test_silent_connections_keep_no_probe_out(start: Start) -> None:
    async with start(connections_max=16) as gateway, AsyncExitStack() as stack:
        await gateway.tenant("acme")
        sent = await events_of(await gateway.caller("ana"))
        stream = await stack.enter_async_context(raw(gateway))
        await stream.send(sent)
        assert (await stream.answer()).status == 200
        silent = [await stack.enter_async_context(raw(gateway)) for _ in range(RESERVE_MAX)]

        alive = await ask_raw(gateway, head(None, method=b"GET", path=b"/healthz"))

        assert alive.status == 200
        assert await silent[0].end() == b""


async def test_a_tenant_has_a_share_of_the_streams(start: Start) -> None:
    async with (
        start(connections_max=8, trusted_proxies="127.0.0.1") as gateway,
        AsyncExitStack() as stack,
    ):
        await gateway.tenant("acme")
        sent = await events_of(await gateway.caller("ana"))
        streams = [await stack.enter_async_context(raw(gateway)) for _ in range(3)]

        for each in streams:
            await each.send(sent)
        statuses = [(await each.answer()).status for each in streams]

        assert sorted(statuses) == [200, 200, 429]


async def test_trusted_proxies_have_as_many_connections_as_there_are(start: Start) -> None:
    async with (
        start(connections_max=32, trusted_proxies="10.0.0.0/8, 127.0.0.1") as gateway,
        AsyncExitStack() as stack,
    ):
        many = [await stack.enter_async_context(raw(gateway)) for _ in range(20)]
        for each in many:
            await each.send(head(None, method=b"GET", path=b"/healthz"))

        assert {(await each.answer()).status for each in many} == {200}


async def test_a_worker_keeps_so_many_connections_and_no_more(start: Start) -> None:
    async with (
        start(connections_max=5, trusted_proxies="127.0.0.1") as gateway,
        AsyncExitStack() as stack,
    ):
        oldest, *_ = [await stack.enter_async_context(raw(gateway)) for _ in range(10)]

        assert await oldest.end() == b""


async def test_a_client_that_takes_no_byte_of_its_answers_is_cut_off(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{CONNECTIONS}.SEND_DEADLINE_S", 0.5)
    async with start() as gateway, raw(gateway) as deaf:
        flood = head(None, method=b"GET", path=b"/openapi.json") * 2_000

        await asyncio.wait_for(deaf.send(flood), 10)  # which fails once the other side is gone

        assert (await gateway.client.get("/healthz")).status_code == 200


async def test_answers_that_no_client_takes_have_a_limit_in_bytes(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{CONNECTIONS}.SEND_DEADLINE_S", 300.0)
    monkeypatch.setattr("gateway.settings.groups.limits.LimitSettings.body_memory_bytes", 100_000)
    async with start() as gateway, raw(gateway) as deaf:
        flood = head(None, method=b"GET", path=b"/openapi.json") * 2_000

        await asyncio.wait_for(deaf.send(flood), 30)  # which fails once the other side is gone
