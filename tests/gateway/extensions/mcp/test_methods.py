"""Methods beside the tools, the path's other spelling, and lists of requests."""

from typing import Any

import pytest
from mcp import MCPError
from mcp_types import ResourceTemplateReference

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.extensions.mcp.test_mcp import LEAVE, MODES, TOOLS, connected
from tests.gateway.support.gateways import Caller, Gateway, problem, running

pytestmark = pytest.mark.anyio

INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def request(request_id: int | str, method: str = "ping", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def search(request_id: int) -> dict[str, Any]:
    return request(request_id, "tools/call", name="search", arguments={"query": "annual leave"})


@pytest.mark.parametrize("mode", MODES)
async def test_lists_that_are_not_announced_are_empty(ana: Caller, mode: str) -> None:
    async with connected(ana, mode) as client:
        capabilities = client.server_capabilities
        prompts = await client.list_prompts()
        resources = await client.list_resources()

    assert (capabilities.prompts, capabilities.logging, capabilities.completions) == (None,) * 3
    assert (prompts.prompts, resources.resources) == ([], [])


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_clients_of_earlier_versions_may_call_what_is_not_announced(ana: Caller) -> None:
    async with connected(ana, "legacy") as client:
        assert client.server_capabilities.resources is not None
        assert not client.server_capabilities.resources.subscribe
        await client.set_logging_level("debug")
        await client.subscribe_resource("nearhit://search?query=leave")
        await client.unsubscribe_resource("nearhit://search?query=leave")
        completed = await client.complete(
            ResourceTemplateReference(uri="nearhit://search"), {"name": "query", "value": "le"}
        )

    assert completed.completion.values == []


@pytest.mark.parametrize("mode", MODES)
async def test_what_does_not_exist_is_an_error_that_leaves_the_client_connected(
    ana: Caller, mode: str
) -> None:
    async with connected(ana, mode) as client:
        with pytest.raises(MCPError):
            await client.get_prompt("none")
        tools = await client.list_tools()

    assert [tool.name for tool in tools.tools] == TOOLS


@pytest.mark.parametrize(
    "sent",
    [
        request(1, "prompts/get", name="none"),
        request(1, "tasks/list"),
        request(1, "logging/setLevel", level="loud"),
        request(1, "completion/complete"),
        request(1, "resources/subscribe"),
    ],
)
@pytest.mark.parametrize("version", ["2025-03-26", "2025-06-18", "2025-11-25"])
async def test_versions_with_a_handshake_have_errors_of_json_rpc_and_not_of_http(
    ana: Caller, sent: dict[str, Any], version: str
) -> None:
    headers = {"MCP-Protocol-Version": version}
    answer = await ana.call("POST", "/mcp", json=sent, headers=headers)

    assert (answer.status_code, answer.json()["id"]) == (200, 1)
    assert answer.json()["error"]["code"] in (-32601, -32602)


@pytest.mark.parametrize("method", ["ping", "tools/list", "prompts/list"])
async def test_params_that_are_null_are_absent(ana: Caller, method: str) -> None:
    sent = {"jsonrpc": "2.0", "id": 1, "method": method, "params": None}

    answer = await ana.call("POST", "/mcp", json=sent)

    assert (answer.status_code, "result" in answer.json()) == (200, True)


@pytest.mark.parametrize("mode", MODES)
async def test_a_path_with_a_slash_at_its_end_is_the_same(
    ana: Caller, gateway: Gateway, mode: str
) -> None:
    async with connected(ana, mode, path="/mcp/") as client:
        tools = await client.list_tools()
    stream = await ana.call("GET", "/mcp/")
    deeper = await ana.call("POST", "/mcp//", json=request(1))
    stranger = await gateway.stranger.call("POST", "/mcp/", json=request(1))

    assert [tool.name for tool in tools.tools] == TOOLS
    problem(stream, 405)
    assert stream.headers["allow"] == "POST"
    problem(deeper, 404)
    problem(stranger, 401)


@pytest.mark.parametrize("headers", [{}, {"MCP-Protocol-Version": "2025-03-26"}])
async def test_a_list_of_requests_has_a_list_of_responses(
    ana: Caller, headers: dict[str, str]
) -> None:
    await ana.put("leave", LEAVE)
    batch = [search(1), INITIALIZED, request("b"), request(3, "tools/drop"), 4, search(5)]

    answer = await ana.call("POST", "/mcp", json=batch, headers=headers)

    first, ping, error, invalid, last = answer.json()
    assert first["result"]["structuredContent"]["results"][0]["id"] == "leave"
    assert ping == {"jsonrpc": "2.0", "id": "b", "result": {}}
    assert (error["id"], error["error"]["code"]) == (3, -32601)
    assert (invalid["id"], invalid["error"]["code"]) == (None, -32600)
    assert last == first | {"id": 5}


@pytest.mark.parametrize(
    "sent",
    [
        INITIALIZED,
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4}},
        {"jsonrpc": "2.0", "id": 4, "result": {"roots": []}},
        {"jsonrpc": "2.0", "id": "a", "error": {"code": -32601, "message": "none"}},
        [INITIALIZED, INITIALIZED],
        [{"jsonrpc": "2.0", "id": 4, "result": {}}],
    ],
)
async def test_what_needs_no_response_gets_none(ana: Caller, sent: Any) -> None:
    answer = await ana.call("POST", "/mcp", json=sent)

    assert (answer.status_code, answer.content) == (202, b"")


@pytest.mark.parametrize(
    "sent",
    [
        {"jsonrpc": "2.0", "id": 4},
        {"jsonrpc": "2.0", "result": {}},
        {"jsonrpc": "2.0", "id": 4, "result": {}, "error": {}},
        {"id": 4, "result": {}},
    ],
)
async def test_what_is_no_message_is_refused(ana: Caller, sent: dict[str, Any]) -> None:
    answer = await ana.call("POST", "/mcp", json=sent)

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32600)


@pytest.mark.parametrize(
    ("batch", "headers"),
    [
        ([], {}),
        ([None, None], {}),
        ([4, "ping", [request(1)]], {"MCP-Protocol-Version": "2025-03-26"}),
        ([{"jsonrpc": "2.0"}, {}], {}),
        ([request(1)] * 33, {}),
        ([request(1)], {"MCP-Protocol-Version": "2024-11-05"}),
        ([request(1)], {"MCP-Protocol-Version": "2025-06-18"}),
        ([request(1)], {"MCP-Protocol-Version": "2026-07-28"}),
    ],
)
async def test_other_lists_are_refused(
    ana: Caller, batch: list[Any], headers: dict[str, str]
) -> None:
    answer = await ana.call("POST", "/mcp", json=batch, headers=headers)

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32600)


async def test_a_list_counts_each_of_its_requests(settings: Settings, embedder: Embedder) -> None:
    limited = settings.model_copy(update={"key_requests_per_s": 2.0})
    async with running(limited, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        taken = await ana.call("POST", "/mcp", json=[request(1)] * 3)
        refused = await ana.call("POST", "/mcp", json=[request(1)] * 3)

    assert taken.status_code == 200
    problem(refused, 429)
