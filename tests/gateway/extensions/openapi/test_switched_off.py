"""A gateway without the extension: it serves no description, and nothing leads to one."""

import pytest

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import problem, running

pytestmark = pytest.mark.anyio


@pytest.mark.isolated
async def test_a_gateway_without_the_description_tells_of_none(
    settings: Settings, embedder: Embedder
) -> None:
    off = settings.model_copy(update={"extensions_off": "openapi"})
    async with running(off, embedder) as gateway:
        absent = await gateway.stranger.call("GET", "/openapi.json")
        problem(await gateway.stranger.call("GET", "/v1/problems"), 404)
        root = await gateway.stranger.call("GET", "/")

    assert "openapi" not in problem(absent, 404)["detail"]
    assert root.status_code == 200
    assert not {"openapi", "problems"} & root.json().keys()
