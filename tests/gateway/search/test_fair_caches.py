"""What one tenant's questions leave of another tenant's cached answers."""

import pytest

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, running

pytestmark = [pytest.mark.anyio, pytest.mark.redis]


async def tier(caller: Caller, query: str) -> str:
    """Where the answer to a search came from."""
    return str((await caller.search(query)).headers["cache-status"])


async def test_a_reader_with_many_questions_empties_no_cache_of_another_tenant(
    settings: Settings, embedder: Embedder
) -> None:
    limits = {"local_cache_bytes_max": 20_000}  # of about 20 answers without hits
    async with running(settings.model_copy(update=limits), embedder) as gateway:
        await gateway.tenant("acme")
        await gateway.tenant("beta")
        ana, ben = await gateway.caller("ana"), await gateway.caller("ben", tenant="beta")
        first = await tier(ben, "annual leave")

        for number in range(60):
            await tier(ana, f"question {number}")

        assert "fwd=miss" in first
        assert await tier(ben, "annual leave") == "nearhit; hit; detail=memory"
