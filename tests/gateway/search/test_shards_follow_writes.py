"""A tenant in memory follows the writes of its own gateway before they are acknowledged."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.commands import WAIT_S_MAX
from tests.gateway.support.gateways import Caller, Gateway, running

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]


async def confirmations(gateway: Gateway) -> float:
    return await gateway.counted(
        "nearhit_sql_statement_duration_seconds_count", statement="search_confirmation.confirm"
    )


@asynccontextmanager
async def in_memory(
    settings: Settings, embedder: Embedder, caller: Caller
) -> AsyncIterator[Gateway]:
    """A gateway that has loaded the caller's tenant."""
    own = {"shard_bytes_max": 1 << 26}
    async with running(settings.model_copy(update=own), embedder) as gateway:
        asking, numbers = gateway.as_(caller), itertools.count()
        async with asyncio.timeout(WAIT_S_MAX):
            while await gateway.counted("nearhit_shard_events_total", event="loaded") < 1:
                await asking.found(f"leave {next(numbers)}")
        yield gateway


async def test_the_search_after_an_edit_computes_once(
    settings: Settings, embedder: Embedder, ana: Caller
) -> None:
    await ana.put("leave", "Everybody gets 25 days of leave.", readers=["tenant"])
    async with in_memory(settings, embedder, ana) as gateway:
        asking = gateway.as_(ana)
        for days in range(26, 30):
            await asking.put("leave", f"Everybody gets {days} days of leave.", readers=["tenant"])
            before = await confirmations(gateway)

            answer = await asking.call("POST", "/v1/search", json={"query": f"leave {days}"})

            assert f"{days} days" in answer.json()["hits"][0]["text"]
            assert await confirmations(gateway) == before + 1
        assert await gateway.counted("nearhit_shard_events_total", event="followed") == 4


@pytest.mark.thorough
async def test_of_many_writes_in_a_row_one_is_followed_and_the_search_follows_the_others(
    settings: Settings, embedder: Embedder, ana: Caller
) -> None:
    await ana.put("leave", "Everybody gets 25 days of leave.", readers=["tenant"])
    async with in_memory(settings, embedder, ana) as gateway:
        asking = gateway.as_(ana)
        for days in range(26, 30):
            await asking.put("leave", f"Everybody gets {days} days of leave.", readers=["tenant"])
        assert await gateway.counted("nearhit_shard_events_total", event="followed") == 1

        answer = await asking.search("leave 29")
        assert "29 days" in answer.json()["hits"][0]["text"]
        assert await gateway.counted("nearhit_shard_events_total", event="followed") == 2
