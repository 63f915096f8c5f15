"""What nobody asks for costs nothing: a gateway that answers searches has not even loaded it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.settings import Settings

ROOT = Path(__file__).parents[3]

# A server of its own, which says at the end what it has loaded and how much it has allocated.
SERVER = """
import asyncio, sys, tracemalloc
from gateway.metrics import Metrics
from gateway.settings import Settings
from index.static_embedder import StaticEmbedder
from tests.gateway.gateways import running

async def main():
    async with running(Settings(), StaticEmbedder()) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        await ana.put("leave", "Everybody gets 25 days of leave.")
        for query in ("leave", "days", "leave"):
            await ana.search(query)
        tracemalloc.start()
        for _ in range(50):
            await ana.search("leave")
        traces = tracemalloc.take_snapshot().traces
        print("ALLOCATED", sum(
            any("/gateway/assist" in frame.filename for frame in each.traceback) for each in traces
        ))
        print("LOADED", *sorted(sys.modules))
        await ana.search("leave", rerank=True)
        print("AFTER", *sorted(sys.modules))

asyncio.run(main())
"""


@pytest.mark.anyio
async def test_a_search_without_them_loads_none_of_the_assists_and_allocates_nothing_for_them(
    settings: Settings,
) -> None:
    assert settings.database_url is not None
    assert settings.redis_url is not None
    assert settings.admin_key is not None
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "NEARHIT_DATABASE_URL": settings.database_url.get_secret_value(),
        "NEARHIT_REDIS_URL": settings.redis_url.get_secret_value(),
        "NEARHIT_ADMIN_KEY": settings.admin_key.get_secret_value(),
        "NEARHIT_CACHE_PREFIX": settings.cache_prefix,
        "NEARHIT_LOG_LEVEL": "error",
    }
    done = subprocess.run(  # noqa: ASYNC221, S603  ours; nothing else goes on
        [sys.executable, "-c", SERVER],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    told = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}
    assert told["ALLOCATED"] == ["0"]
    assert "gateway.search" in told["LOADED"]
    loaded = [name for name in told["LOADED"] if re.match(r"gateway\.assists\b|openai", name)]
    assert loaded == []
    assert "gateway.assists.formula" in told["AFTER"]
