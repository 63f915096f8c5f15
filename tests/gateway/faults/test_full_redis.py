"""A Redis that is full: whatever it refuses or throws away, answers are right and nothing fails."""

import secrets
from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr
from redis.asyncio import Redis

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.servers.own_redis import OwnRedis, own_redis
from tests.gateway.support.gateways import Caller, Gateway, running

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

ROOM_BYTES = 10_000  # for a few answers, a state and a registry
POLICIES = ("noeviction", "volatile-lru", "volatile-ttl", "allkeys-lru", "allkeys-random")


@pytest.fixture
async def redis() -> AsyncIterator[OwnRedis]:
    async with own_redis() as made:
        yield made


async def fill_up(redis: OwnRedis, policy: str) -> None:
    """Leave it next to no room from now on."""
    async with Redis.from_url(redis.url) as client:
        used = (await client.info("memory"))["used_memory"]
        await client.config_set("maxmemory-policy", policy)
        await client.config_set("maxmemory", used + ROOM_BYTES)


async def evicted(redis: OwnRedis) -> int:
    async with Redis.from_url(redis.url) as client:
        return int((await client.info("stats"))["evicted_keys"])


def leave(days: int) -> str:
    return f"# Leave\n\nEverybody gets {days} days of annual leave a year. " + "It is so. " * 100


async def days_shown(caller: Caller, query: str) -> str:
    shown: str = (await caller.search(query)).json()["hits"][0]["text"]
    return shown.split(" days", maxsplit=1)[0][-2:]


@pytest.mark.thorough
@pytest.mark.parametrize("policy", POLICIES)
async def test_answers_stay_right(
    settings: Settings, embedder: Embedder, redis: OwnRedis, policy: str
) -> None:
    own = settings.model_copy(update={"redis_url": SecretStr(redis.url)})
    async with running(own, embedder) as gateway, running(own, embedder) as other:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        await ana.put("leave", leave(10))
        await fill_up(redis, policy)

        for days in range(11, 31):
            await ana.put("leave", leave(days))
            for query in ("annual leave", f"annual leave {secrets.token_hex(4)}"):
                assert await days_shown(other.as_(ana), query) == str(days)
                assert await days_shown(ana, query) == str(days)
            await ask_much(ana, gateway)

        assert (await evicted(redis) > 0) == (policy != "noeviction")


async def ask_much(caller: Caller, gateway: Gateway) -> None:
    """New questions, which want to be kept."""
    for _ in range(3):
        await gateway.as_(caller).search(f"leave {secrets.token_hex(8)}")
