"""Forwards MCP requests from standard input and output to a gateway over HTTP."""

from importlib import metadata
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
)

from common.command_errors import CommandError, refused_call
from gateway.extensions.mcp.tolerant_server import TolerantServer

_TIMEOUT_S = 60.0


async def run(url: str, key: str) -> None:
    """Forward until the input ends. Raises `CommandError` if the URL or the key is refused."""
    endpoint = f"{url.rstrip('/')}/mcp"
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(headers=headers, timeout=_TIMEOUT_S) as http:
        await _check(http, endpoint)
        async with Client(streamable_http_client(endpoint, http_client=http)) as gateway:
            await _serve(gateway)


async def _check(http: httpx2.AsyncClient, endpoint: str) -> None:
    """Report an unreachable URL or a refused key here, not in the client's protocol log."""
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    try:
        answer = await http.post(endpoint, json=ping)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise CommandError(f"{endpoint} is not reachable: {error}") from None
    if answer.status_code != 200:
        raise refused_call(endpoint, answer)


async def _serve(gateway: Client) -> None:
    async def list_tools(
        _: ServerRequestContext[Any], __: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return await gateway.list_tools()

    async def call_tool(
        _: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        return await gateway.call_tool(params.name, params.arguments)

    server = TolerantServer(
        "nearhit",
        version=metadata.version("nearhit"),
        title="Nearhit",
        instructions=gateway.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())
