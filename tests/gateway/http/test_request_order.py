"""Head, caller, body, slot, work: what a client takes of a worker, and when it is refused."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

import pytest
from pydantic import ValidationError

from gateway.http.failures import FailureLimiter
from gateway.http.request.address import ClientAddresses, client_network
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, Gateway, problem, running
from tests.gateway.support.raw_http import ask_raw, head, raw, search

pytestmark = pytest.mark.anyio

Start = Callable[..., AbstractAsyncContextManager[Gateway]]


@pytest.fixture
def start(settings: Settings, embedder: Embedder) -> Start:
    """A worker with other settings."""
    return lambda **fields: running(settings.model_copy(update=fields), embedder)


@pytest.mark.parametrize("key", [None, "nh_made-up"])
async def test_an_unknown_credential_is_refused_before_its_body_comes(
    gateway: Gateway, key: str | None
) -> None:
    nobody = None if key is None else Caller(gateway.client, key)

    answer = await ask_raw(gateway, head(nobody, b"Content-Length: 1000") + b"{")

    assert (answer.status, answer.kind) == (401, "unauthorized")
    assert answer.headers["connection"] == "close"


async def test_who_lacks_the_role_is_refused_before_the_body_comes(gateway: Gateway) -> None:
    reader = await gateway.caller("rita", roles=["reader"])
    sent = head(reader, b"Content-Length: 1000", method=b"PUT", path=b"/v1/documents/d") + b"{"

    assert (await ask_raw(gateway, sent)).status == 403


async def test_a_body_that_is_said_to_be_too_large_is_refused_before_it_comes(
    gateway: Gateway, ana: Caller
) -> None:
    answer = await ask_raw(gateway, head(ana, b"Content-Length: 10000000"))

    assert (answer.status, answer.kind) == (413, "body-too-large")


@pytest.mark.slow
async def test_half_sent_bodies_take_no_slot(start: Start) -> None:
    async with (
        start(concurrent_requests_max=8) as gateway,
        AsyncExitStack() as stack,
    ):
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        for who in [ana, None] * 40:
            half = await stack.enter_async_context(raw(gateway))
            await half.send(head(who, b"Content-Length: 1000") + b"{")

        answers = [await ana.call("POST", "/v1/search", json={"query": "x"}) for _ in range(20)]

        assert {answer.status_code for answer in answers} == {200}


@pytest.mark.slow
async def test_a_body_that_comes_too_slowly_is_refused(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.http.request.body.GRACE_S", 0.3)
    monkeypatch.setattr("gateway.http.request.body.BYTES_PER_S_MIN", 100_000)
    async with start() as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        async with raw(gateway) as slow:
            await slow.send(head(ana, b"Content-Length: 1000"))
            dripping = asyncio.create_task(drip(slow.send))
            answer = await slow.answer()
            dripping.cancel()

        assert (answer.status, answer.kind) == (408, "request-timeout")
        assert answer.headers["connection"] == "close"


async def drip(send: Callable[[bytes], object]) -> None:
    while True:
        await send(b" ")  # type: ignore[misc]  # it is awaitable
        await asyncio.sleep(0.05)


@pytest.mark.slow
async def test_a_body_has_an_end_however_fast_it_comes(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.http.request.body.DEADLINE_S", 0.5)
    async with start() as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        async with raw(gateway) as slow:
            await slow.send(head(ana, b"Content-Length: 60000"))
            dripping = asyncio.create_task(drip(slow.send))
            answer = await slow.answer()
            dripping.cancel()

        assert answer.status == 408


@pytest.mark.slow
async def test_bodies_that_arrive_take_so_much_memory_and_no_more_and_leave_it(
    start: Start,
) -> None:
    most = 8_000_000
    async with (
        start(document_bytes_max=most // 8) as gateway,
        raw(gateway) as one,
        raw(gateway) as two,
        raw(gateway) as three,
    ):
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        line = head(ana, b"Content-Length: %d" % most, path=b"/v1/documents/batch")
        waiting = {}
        for each in (one, two, three):
            await each.send(line + b" " * (most - 1_000))
            waiting[asyncio.create_task(each.answer())] = each
        (refused,), others = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        small = await ana.call("POST", "/v1/search", json={"query": "x"})
        for task in others:
            await waiting[task].send(b" " * 1_000)
        done = await asyncio.gather(*others)
        async with raw(gateway) as again:
            await again.send(line + b" " * most)
            after = await again.answer()

    assert (refused.result().status, refused.result().kind) == (429, "too-many-requests")
    assert small.status_code == 200
    assert [each.status for each in (*done, after)] == [422] * 3  # blank lines alone


@pytest.mark.slow
async def test_bodies_of_all_tenants_share_a_workers_memory(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.settings.groups.limits.LimitSettings.body_memory_bytes", 1_000_000)
    async with start() as gateway, AsyncExitStack() as stack:
        waiting = []
        for tenant in ("a", "b", "c", "d", "e"):
            await gateway.tenant(tenant)
            caller = await gateway.caller("ana", tenant=tenant)
            line = head(caller, b"Content-Length: 8000000", path=b"/v1/documents/batch")
            sender = await stack.enter_async_context(raw(gateway))
            await sender.send(line + b" " * 240_000)  # of the 250,000 that a tenant may hold
            waiting.append(asyncio.create_task(sender.answer()))
        (refused,), others = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for each in others:
            each.cancel()

    answer = refused.result()
    assert (answer.status, answer.kind) == (503, "overloaded")


@pytest.mark.slow
async def test_made_up_keys_and_bad_bodies_count_against_their_address(start: Start) -> None:
    async with start(address_failures_per_s=0.1) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        stranger = Caller(gateway.client, "nh_made-up")

        answers = [await stranger.call("POST", "/v1/search", json={}) for _ in range(3)]
        refused = await stranger.call("POST", "/v1/search", json={})
        bad = await ana.call("POST", "/v1/search", json={})
        lost = await gateway.client.get("/nowhere")
        good = [await ana.call("POST", "/v1/search", json={"query": "x"}) for _ in range(30)]
        new = await (await gateway.caller("new")).call("POST", "/v1/search", json={"query": "x"})

        assert answers[0].status_code == 401
        assert "of this address" in problem(refused, 429)["detail"]
        assert int(refused.headers["retry-after"]) >= 1
        assert (bad.status_code, lost.status_code) == (429, 429)
        assert {answer.status_code for answer in good} == {200}
        assert new.status_code == 200


async def test_bad_bodies_count_against_their_key(start: Start) -> None:
    async with start(key_requests_per_s=0.1) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")

        answers = [await ana.call("POST", "/v1/search", json={}) for _ in range(3)]

        assert answers[0].status_code == 422
        assert "of this key" in problem(answers[-1], 429)["detail"]
        assert (await ana.call("POST", "/v1/search", json={"query": "x"})).status_code == 429


@pytest.mark.slow
async def test_a_trusted_proxy_names_the_client_that_failures_count_against(start: Start) -> None:
    async with start(address_failures_per_s=0.1, trusted_proxies="127.0.0.1") as gateway:
        eve, eva = {"X-Forwarded-For": "8.8.8.8, 203.0.113.7"}, {"X-Forwarded-For": "203.0.113.8"}

        of_eve = [await gateway.client.get("/nowhere", headers=eve) for _ in range(6)]
        of_eva = await gateway.client.get("/nowhere", headers=eva)

        assert of_eve[-1].status_code == 429
        assert of_eva.status_code == 404


@pytest.mark.slow
async def test_nobody_else_is_believed_who_the_client_is(start: Start) -> None:
    async with start(address_failures_per_s=0.1) as gateway:
        answers = [
            await gateway.client.get("/nowhere", headers={"X-Forwarded-For": f"203.0.113.{each}"})
            for each in range(6)
        ]

        assert answers[-1].status_code == 429


@pytest.mark.parametrize(
    ("header", "value", "client"),
    [
        ("x-forwarded-for", "203.0.113.7", "203.0.113.7"),
        ("x-forwarded-for", "203.0.113.7, 10.0.0.9", "203.0.113.7"),
        ("x-forwarded-for", "1.2.3.4, 203.0.113.7:4711, 10.0.0.9", "203.0.113.7"),
        ("x-forwarded-for", "[2001:db8:1:2:3::4]:80", "2001:db8:1:2::/64"),
        ("x-forwarded-for", "2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("x-forwarded-for", "203.0.113.7, garbage", "10.0.0.1"),
        ("x-forwarded-for", "", "10.0.0.1"),
        ("x-forwarded-for", "10.0.0.9", "10.0.0.9"),
        ("forwarded", 'for=1.2.3.4, For="[2001:db8:1:2::4]:80";proto=https', "2001:db8:1:2::/64"),
        ("forwarded", "for=203.0.113.7;by=10.0.0.1, for=10.0.0.9", "203.0.113.7"),
        ("forwarded", "for=_hidden", "10.0.0.1"),
        ("forwarded", "by=10.0.0.9", "10.0.0.1"),
    ],
)
def test_the_client_is_the_last_address_that_no_trusted_proxy_has(
    header: str, value: str, client: str
) -> None:
    addresses = ClientAddresses("10.0.0.0/8", header)
    scope = {"client": ("10.0.0.1", 1), "headers": [(header.encode(), value.encode())]}

    assert addresses.network_of(scope) == client
    assert addresses.network_of(scope | {"client": ("192.0.2.1", 1)}) == "192.0.2.1"


def test_addresses_of_one_client_count_together() -> None:
    assert (
        client_network("2001:db8:1:2:a::1")
        == client_network("2001:db8:1:2:b::2")
        != client_network("2001:db8:1:3::")
    )
    assert client_network("::ffff:192.0.2.1") == "192.0.2.1"


def test_a_bucket_of_failures_fills_again() -> None:
    now_s = 0.0
    failures = FailureLimiter(2.0, lambda: now_s)

    assert [failures.spend("a") for _ in range(5)] == [0.0] * 4 + [0.5]
    assert failures.spend("b") == 0.0
    now_s = 0.5
    assert failures.spend("a") == 0.0
    assert failures.spend("a") > 0
    assert [FailureLimiter(0.0, lambda: now_s).spend("a") for _ in range(9)] == [0.0] * 9


@pytest.mark.parametrize(
    "wrong",
    [
        {"trusted_proxies": "10.0.0.0/8, balancer"},
        {"trusted_proxies": "10.0.0.1/8"},
        {"document_bytes_max": 0},
    ],
)
def test_limits_that_make_no_sense_are_refused_at_start(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Settings(**wrong)


@pytest.mark.slow
async def test_mcp_answers_web_pages_of_known_origins_alone(start: Start) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = {"Accept": "application/json, text/event-stream"}
    async with start(mcp_origins="https://Agents.example.com/") as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        for origin, host, status in (
            (None, "gateway.example", 200),
            ("http://127.0.0.1:8080", "127.0.0.1:8080", 200),
            ("http://localhost:8080", "localhost:8080", 200),
            ("http://[::1]:8080", "[::1]:8080", 200),
            ("https://agents.example.com", "gateway.example", 200),
            ("https://evil.example", "gateway.example", 403),
            ("http://rebound.example:8080", "rebound.example:8080", 403),
            ("http://127.0.0.1:9090", "127.0.0.1:8080", 403),
            ("null", "127.0.0.1:8080", 403),
            ("http://[", "127.0.0.1:8080", 403),
        ):
            headers = {**accept, "Host": host} | ({"Origin": origin} if origin else {})
            answer = await ana.call("POST", "/mcp", json=ping, headers=headers)
            assert answer.status_code == status, (origin, host, answer.text)


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/v1/search", "POST"),
        ("/v1/keys", "GET, HEAD, POST"),
        ("/v1/documents/d", "DELETE, GET, HEAD, PUT"),
        ("/v1/documents/d/access", "DELETE, GET, HEAD, PATCH, PUT"),
        ("/v1/sources/s", "DELETE, PUT"),
    ],
)
async def test_a_405_names_every_method_of_the_path(
    gateway: Gateway, path: str, methods: str
) -> None:
    answer = await gateway.client.request("TRACE", path)

    assert methods in problem(answer, 405)["detail"]
    assert answer.headers["allow"] == methods


async def test_a_body_that_nobody_wants_is_left_and_the_connection_closed(
    gateway: Gateway,
) -> None:
    sent = head(None, b"Content-Length: 1000", method=b"GET", path=b"/healthz")

    assert (await ask_raw(gateway, sent)).status == 200


async def test_a_client_that_expects_a_100_gets_it_once_it_is_known(
    gateway: Gateway, ana: Caller
) -> None:
    expecting = search(ana).replace(b"Host: x", b"Host: x\r\nExpect: 100-continue")
    line, body = expecting.split(b"\r\n\r\n")
    async with raw(gateway) as connection:
        await connection.send(line + b"\r\n\r\n")
        assert (await connection.answer()).status == 100
        await connection.send(body)
        assert (await connection.answer()).status == 200

    stranger = line.replace((ana.key or "").encode(), b"nh_made-up")
    assert (await ask_raw(gateway, stranger + b"\r\n\r\n")).status == 401
