"""What nobody asks for costs a search nothing."""

import os
import subprocess
import sys

import orjson
import pytest

from gateway.settings.settings import Settings
from tests.gateway.rag.off import ROOT


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
        [sys.executable, "-m", "tests.gateway.rag.off"],
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
