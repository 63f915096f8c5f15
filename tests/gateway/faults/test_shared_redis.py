"""A Redis that others read and write too, or whose user may not do all."""

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from urllib.parse import urlsplit, urlunsplit

import pytest
from pydantic import SecretStr
from redis.asyncio import Redis

from cache.redis.permissions import COMMANDS
from common.command_errors import CommandError
from gateway.extensions.embedded_servers.owned_servers import Servers
from gateway.monitoring.metrics import Metrics
from gateway.services import open_services
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.faults.test_outage import with_
from tests.gateway.support.gateways import running

pytestmark = [pytest.mark.anyio, pytest.mark.redis, pytest.mark.slow]

LEAVE = "Everybody gets 25 days of quokka leave."
QUESTION = "How many days of quokka leave?"
USER = f"nearhit-test-{secrets.token_hex(6)}"


@pytest.fixture
async def redis(servers: Servers) -> AsyncIterator[Redis]:
    async with Redis.from_url(servers.redis_url) as client:
        yield client
        await client.acl_deluser(USER)


async def allow(redis: Redis, *rules: str) -> None:
    await redis.execute_command(  # type: ignore[no-untyped-call]  # of the driver
        "ACL", "SETUSER", USER, "reset", "on", ">secret", *rules
    )


def as_user(settings: Settings, servers: Servers) -> Settings:
    parts = urlsplit(servers.redis_url)
    host = parts.netloc.rpartition("@")[2]
    url = urlunsplit(parts._replace(netloc=f"{USER}:secret@{host}"))
    return with_(settings, redis_url=SecretStr(url))


async def test_with_a_key_redis_shows_no_answer_and_an_altered_one_is_computed_again(
    settings: Settings, embedder: Embedder, redis: Redis
) -> None:
    sealed = with_(settings, cache_keys=SecretStr(secrets.token_hex(32)))
    async with running(sealed, embedder) as one, running(sealed, embedder) as other:
        await one.tenant("acme")
        ana = await one.caller("ana", roles=["writer"])
        await ana.put("leave", LEAVE, readers=["tenant"])
        first = await ana.search(QUESTION)
        second = await other.as_(ana).search(QUESTION)
        names = [name async for name in redis.scan_iter(f"{settings.cache_prefix}*")]
        stored = {name: await redis.get(name) for name in names if len(name) > 64}

    assert first.headers["cache-status"] == "nearhit; fwd=miss; stored"
    assert second.headers["cache-status"] == "nearhit; hit; detail=redis"
    assert second.content == first.content
    assert b"quokka" in first.content
    assert stored
    for name, value in stored.items():
        assert isinstance(value, bytes)
        assert b"quokka" not in value
        await redis.set(name, value[:-1] + bytes([value[-1] ^ 1]))
    async with running(sealed, embedder) as third:
        again = await third.as_(ana).search(QUESTION)
        unreadable = await third.counted("nearhit_cache_events_total", event="unreadable")
    assert again.content == first.content
    assert again.headers["cache-status"] == "nearhit; fwd=miss; stored"
    assert unreadable > 0


async def test_a_gateway_does_not_start_with_a_user_that_may_not_run_what_the_cache_needs(
    settings: Settings, embedder: Embedder, redis: Redis, servers: Servers
) -> None:
    await allow(redis, "~*", "+@all", "-@dangerous")
    limited = as_user(settings, servers)

    async with AsyncExitStack() as stack:
        with pytest.raises(CommandError, match=r"ACL SETUSER … \+info\|server"):
            await stack.enter_async_context(open_services(limited, Metrics(), embedder))


async def test_a_permission_that_is_taken_away_later_is_told_and_no_search_fails(
    settings: Settings, embedder: Embedder, redis: Redis, servers: Servers
) -> None:
    needed = (f"~{settings.cache_prefix}*", *(f"+{rule}" for rule in COMMANDS))
    await allow(redis, *needed)
    async with running(as_user(settings, servers), embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana", roles=["writer"])
        await ana.put("leave", LEAVE)
        cached = await ana.search(QUESTION)
        ready = (await gateway.client.get("/readyz")).json()

        await allow(redis, *needed, "-info")
        computed = await ana.search(f"{QUESTION} Now?")
        limited = await gateway.client.get("/readyz")

    assert cached.headers["cache-status"] == "nearhit; fwd=miss; stored"
    assert ready["status"] == "ready"
    assert "redis" not in ready
    assert computed.json()["hits"]
    assert computed.headers["cache-status"] == "nearhit; fwd=miss"
    assert limited.status_code == 200
    assert "lacks a permission" in limited.json()["redis"]
