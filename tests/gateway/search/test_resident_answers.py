"""Answers that shards compute stay in their process; others are in Redis for every worker."""

import asyncio

import pytest

from gateway.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, Gateway, running

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]


async def stored(gateway: Gateway) -> float:
    return await gateway.counted("nearhit_cache_events_total", event="stored")


async def test_an_answer_from_shards_is_repeated_from_memory_and_is_not_in_redis(
    settings: Settings, ana: Caller, embedder: Embedder
) -> None:
    await ana.put("leave", "Everybody gets 25 days of annual leave a year.")
    resident = settings.model_copy(update={"shard_bytes_max": 1 << 26})
    async with running(resident, embedder) as gateway:
        asking = gateway.as_(ana)
        async with asyncio.timeout(10):
            number = 0
            while await gateway.counted("nearhit_shard_events_total", event="loaded") < 2:
                number += 1
                await asking.found(f"annual leave {number}")
        before = await stored(gateway)
        hits = await gateway.counted("nearhit_cache_lookups_total", tier="memory")

        for _ in range(2):
            assert await asking.found("days of leave") == ["leave"]
        assert await gateway.counted("nearhit_cache_lookups_total", tier="memory") == hits + 1
        assert await stored(gateway) == before

        await asking.found("days of leave", fusion="rrf")
        await asking.found("days of leave", rerank=True)
        assert await stored(gateway) == before + 2
