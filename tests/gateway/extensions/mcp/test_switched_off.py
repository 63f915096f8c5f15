"""A gateway without the extension: nothing of the protocol answers, or is shown."""

import pytest

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.extensions.mcp.test_mcp import body
from tests.gateway.support.commands import process_output
from tests.gateway.support.gateways import Caller, problem, running

pytestmark = pytest.mark.anyio

METADATA = "/.well-known/oauth-protected-resource"


@pytest.mark.isolated
async def test_a_gateway_without_the_protocol_answers_and_describes_nothing_of_it(
    settings: Settings, embedder: Embedder
) -> None:
    off = settings.model_copy(update={"extensions_off": "mcp"})
    async with running(off, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        called = [
            await ana.call("POST", path, json=body(params={"name": "list_sources"}))
            for path in ("/mcp", "/mcp/")
        ]
        read = [await ana.call("GET", path) for path in (METADATA, f"{METADATA}/mcp")]
        described = (await gateway.stranger.call("GET", "/openapi.json")).json()
        root = await gateway.stranger.call("GET", "/")
        # What other extensions declare for it hinders none of their own calls.
        strategies = await ana.call("GET", "/v1/strategies")

    for missing in (*called, *read):
        problem(missing, 404)
    assert not [path for path in described["paths"] if "mcp" in path or "oauth" in path]
    assert not [name for name in described["components"]["schemas"] if "Mcp" in name]
    assert {"name": "mcp"} not in described["tags"]
    assert "mcp" not in described["components"]["schemas"]["RootAnswer"]["properties"]
    assert "mcp" not in root.json()
    assert strategies.status_code == 200


async def test_a_gateway_with_the_protocol_names_its_path(ana: Caller) -> None:
    assert (await ana.call("GET", "/")).json()["mcp"] == "/mcp"


@pytest.mark.thorough
async def test_without_the_extension_there_is_no_such_command() -> None:
    status, _, complaint = await process_output({"NEARHIT_EXTENSIONS_OFF": "mcp"}, "mcp")

    assert status == 2
    assert "No such command 'mcp'" in complaint
