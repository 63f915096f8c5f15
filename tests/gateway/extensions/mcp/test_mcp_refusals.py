"""What the tools and the protocol refuse, and how they say so."""

import asyncio
import os
import sys
from typing import Any

import orjson
import pytest
from mcp.shared.exceptions import MCPError

from tests.gateway.extensions.mcp.test_mcp import body, connected, text
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("tool", "arguments", "what"),
    [
        ("search", {}, "query"),
        ("search", {"query": ""}, "query"),
        ("search", {"query": "a" * 2_001}, "query"),
        ("search", {"query": "a", "top_k": 1_000}, "top_k"),
        ("search", {"query": "a", "filter": {}}, "filter"),
        ("fetch", {"id": ""}, "id"),
        ("fetch", {"id": "nowhere"}, "id"),
        ("search", {"query": "a", "updated_after": "last week"}, "updated_after"),
        ("search", {"query": "a", "as_of": "0001-01-01T00:00:00+02:00"}, "as_of"),
        ("search", {"query": "a", "metadata": ["team"]}, "metadata"),
    ],
)
async def test_a_model_is_told_what_is_wrong_with_its_arguments(
    ana: Caller, tool: str, arguments: dict[str, Any], what: str
) -> None:
    async with connected(ana) as client:
        result = await client.call_tool(tool, arguments)

    assert result.is_error
    assert f"{what}: " in text(result)


@pytest.mark.parametrize("depth", [220, 1_000, 10_000])
@pytest.mark.parametrize("tool", ["search", "fetch", "list_sources"])
async def test_arguments_without_a_bottom_are_refused_and_need_a_token_too(
    gateway: Gateway, ana: Caller, tool: str, depth: int
) -> None:
    sent = orjson.dumps(body(params={"name": tool, "arguments": {"query": "HERE"}}))
    sent = sent.replace(b'"HERE"', b"[" * depth + b"]" * depth)

    answer = await ana.call("POST", "/mcp", content=sent)
    stranger = await gateway.stranger.call("POST", "/mcp", content=sent)

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == -32700
    assert "recursion limit exceeded" in answer.json()["error"]["message"]
    problem(stranger, 401)


async def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(ana: Caller) -> None:
    async with connected(ana) as client:
        with pytest.raises(MCPError, match="no tool 'drop'"):
            await client.call_tool("drop", {})


@pytest.mark.parametrize("key", [None, "nh_nobody-has-such-a-key"])
@pytest.mark.parametrize(
    "sent",
    [
        body(params={"name": "search", "arguments": {"query": "leave"}}),
        body(params={"name": "fetch", "arguments": {"id": "leave"}}),
        body(params={"name": "list_sources"}),
        body(params={"name": "drop"}),
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        [],
        b"{",
    ],
)
async def test_nothing_is_told_without_a_token(
    gateway: Gateway, key: str | None, sent: object
) -> None:
    content = sent if isinstance(sent, bytes) else orjson.dumps(sent)
    answer = await Caller(gateway.client, key).call("POST", "/mcp", content=content)

    problem(answer, 401)
    assert answer.headers["www-authenticate"] == 'Bearer realm="nearhit"'


async def test_which_versions_are_spoken_is_not_told_without_a_token(gateway: Gateway) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    headers = {"MCP-Protocol-Version": "1999-01-01"}

    problem(await gateway.stranger.call("POST", "/mcp", json=ping, headers=headers), 401)


@pytest.mark.parametrize(
    ("sent", "headers", "status", "code"),
    [
        (b"{", {}, 400, -32700),
        (b"[]", {}, 400, -32600),
        (b'"search"', {}, 400, -32600),
        (b'{"jsonrpc":"2.0","id":1}', {}, 400, -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', {}, 400, -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', {}, 400, -32600),
        (b'{"jsonrpc":"2.0","id":-9007199254740992,"method":"ping"}', {}, 400, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', {}, 400, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/drop"}', {}, 200, -32601),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":3}}', {}, 200, -32602),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":[]}}',
            {},
            200,
            -32602,
        ),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"ping"}',
            {"MCP-Protocol-Version": "1999-01-01"},
            400,
            -32602,
        ),
    ],
)
async def test_what_is_no_call_is_an_error_of_json_rpc(
    ana: Caller, sent: bytes, headers: dict[str, str], status: int, code: int
) -> None:
    answer = await ana.call("POST", "/mcp", content=sent, headers=headers)

    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


async def test_a_notification_is_taken_and_a_stream_is_not_offered(ana: Caller) -> None:
    taken = await ana.call(
        "POST", "/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}
    )
    stream = await ana.call("GET", "/mcp")

    assert (taken.status_code, taken.content) == (202, b"")
    problem(stream, 405)


async def test_a_call_longer_than_a_search_may_be_is_refused(ana: Caller) -> None:
    answer = await ana.call("POST", "/mcp", content=b" " * 65_537)

    problem(answer, 413)


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize(
    ("url", "key", "what"),
    [
        ("http://127.0.0.1:1", "nh_any", "is not reachable"),
        (None, "nh_nobodys", "/mcp answers 401: The key is missing, revoked or expired."),
        (None, None, "set NEARHIT_KEY"),
    ],
)
async def test_the_command_says_why_it_can_not_serve(
    ana: Caller, url: str | None, key: str | None, what: str
) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", "mcp", "--url", url or str(ana.client.base_url)),
        env=os.environ | ({} if key is None else {"NEARHIT_KEY": key}),
        stderr=asyncio.subprocess.PIPE,
    )
    _, told = await process.communicate()

    assert process.returncode == 1
    assert what in told.decode()
    assert "Traceback" not in told.decode()
