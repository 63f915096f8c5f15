"""What nobody asks for costs a search nothing."""

import os
import subprocess
import sys
from typing import Any

import orjson
import pytest

from gateway.settings.settings import Settings
from tests.gateway.extensions.rag.conftest import Served
from tests.gateway.extensions.rag.off import ROOT
from tests.gateway.support.gateways import problem


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.anyio
async def test_a_search_without_them_calls_and_keeps_nothing_of_the_assists(
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
    }
    done = subprocess.run(  # noqa: ASYNC221  ours; nothing else goes on
        [sys.executable, "-m", "tests.gateway.extensions.rag.off"],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        check=True,
        timeout=120,
    )

    measured = orjson.loads(done.stdout)
    nothing: dict[str, list[str]] = {"repeated": [], "cached": [], "computed": []}
    assert measured["calls_of_assists"] == nothing
    assert measured["blocks_of_assists"] == nothing
    assert "gateway/search/search_endpoint.py: search" in measured["functions"]


@pytest.mark.anyio
async def test_once_it_is_off_what_asks_for_it_is_refused_by_its_name(served: Served) -> None:
    asked: dict[str, Any] = {
        "history": [],
        "gate": "support",
        "rerank": "words",
        "context": {"token_budget": 100},
    }
    defaults = {"gate": None, "rerank": False, "context": None}
    async with served(extensions_off="rag") as gateway:
        ana = await gateway.caller("ana")
        await ana.put("leave", "Everybody gets 25 days of leave.")
        plain = await ana.search("leave", **defaults)
        for name, value in asked.items():
            alone: dict[str, Any] = {"query": "leave", name: value}
            refused = problem(await ana.call("POST", "/v1/search", json=alone), 422)
            assert refused["errors"][0]["field"] == name
            assert "needs the extension rag, which is off" in refused["errors"][0]["detail"]
        searches = {"searches": [{"query": "leave"}, {"query": "leave", "rerank": True}]}
        batch = problem(await ana.call("POST", "/v1/search/batch", json=searches), 422)
        body = {"query": "leave", "rewrite_query": True}
        store = await ana.call("POST", "/v1/vector_stores/wiki/search", json=body)

    assert len(plain.json()["hits"]) == 1
    assert batch["errors"][0]["field"] == "searches.1.rerank"
    assert store.status_code == 400
    assert store.json()["error"]["param"] == "rewrite_query"
