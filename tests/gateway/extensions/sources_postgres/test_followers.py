"""Shares of tenants, slots that are left, and how many calls may wait."""

import asyncio

import pytest

from gateway.extensions.sources_postgres import followers, position_watcher
from gateway.services import Services
from tests.gateway.extensions.sources_postgres.conftest import (
    WAIT_S,
    FollowedServer,
    following,
    put,
    reached,
    wait,
)
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = [pytest.mark.anyio, pytest.mark.isolated, pytest.mark.slow]


async def test_a_tenant_leaves_followers_to_others(
    gateway: Gateway,
    admin: Caller,
    services: Services,
    server: FollowedServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(followers, "TENANT_FOLLOWED_MAX", 1)
    other = await gateway.caller("ada", tenant=await gateway.new_tenant(), roles=["admin"])
    await put(admin, server.body())
    await put(admin, server.body(), "again")
    await put(other, server.body())
    async with following(services):
        lsn = await server.run("INSERT INTO articles VALUES (1, 'A', 'amber')")
        await reached(other, lsn)
        waits = [wait(admin, lsn, name, timeout_s=10.0) for name in ("articles", "again")]
        waited = [each["reached"] for each in await asyncio.gather(*waits)]

    assert sorted(waited) == [False, True]


async def test_changed_settings_get_another_slot_in_place_of_the_first(
    admin: Caller, services: Services, server: FollowedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(followers, "TENANT_FOLLOWED_MAX", 1)
    async with following(services):
        await put(admin, server.body())
        lsn = await server.run("INSERT INTO articles VALUES (1, 'A', 'amber', '{}')")
        await reached(admin, lsn)
        await put(admin, server.body(columns={"text": "title"}))
        await reached(admin, lsn)
        async with asyncio.timeout(WAIT_S):
            while await server.slots() > 1:
                await asyncio.sleep(0.02)
    document = await admin.call("GET", "/v1/documents/articles/1")

    assert document.json()["text"] == "A"


async def test_a_slot_that_can_t_be_dropped_is_given_up(
    admin: Caller,
    services: Services,
    server: FollowedServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(followers, "DROP_ATTEMPTS_MAX", 1)
    await put(admin, server.body(port=1))
    database = services.stores.database
    async with following(services):
        await _until_followers(services, 1)
        await put(admin, server.body(port=1) | {"paused": True})
        await database.rows("source_followers.request_copy", "acme", "articles")  # due at once
        await _until_followers(services, 0)


async def _until_followers(services: Services, number: int) -> None:
    async with asyncio.timeout(30):
        while len(await _followers(services)) != number:
            await asyncio.sleep(0.02)


async def _followers(services: Services) -> list[object]:
    async with services.stores.database.session() as session:
        return list(await session.connection.fetch("SELECT FROM source_followers"))


async def test_waits_are_bounded(
    admin: Caller, server: FollowedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(position_watcher, "TENANT_WAITING_MAX", 0)
    await put(admin, server.body())

    path = "/v1/sources/articles/wait"
    too_many = await admin.call("POST", path, json={"lsn": "0/1"})
    too_long = await admin.call("POST", path, json={"lsn": "0/1", "timeout_s": 61})

    problem(too_many, 429)
    problem(too_long, 422)
