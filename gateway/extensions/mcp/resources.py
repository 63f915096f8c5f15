"""Answers to searches as resources, which clients read by their addresses; nothing is stored."""

from collections.abc import Mapping
from typing import Any

import orjson

from gateway.extension import (
    Headers,
    RequestContext,
    decode_in_steps,
    require_within_limits,
    search_as_caller,
)
from gateway.extensions._mcp import results
from gateway.extensions._mcp.resource_addresses import search_of
from gateway.extensions.mcp.answer_headers import answer_headers
from gateway.extensions.mcp.mcp_services import McpServices


async def read(
    context: RequestContext[McpServices], params: Mapping[str, Any]
) -> tuple[bytes, Headers]:
    """The contents of the resource: the hits that the caller gets now, as the tool returns them."""
    uri = str(params.get("uri"))
    body = search_of(uri)
    require_within_limits(body)
    answered = await search_as_caller(context, context.services.search, body)
    tenant = answered.request.scope.tenant
    answer = await decode_in_steps(answered.answer.body)
    text = results.search(answer, tenant=tenant, tokens_max=results.TOKENS_MAX)
    contents = [{"uri": uri, "mimeType": "application/json", "text": text.decode()}]
    fields = {"contents": contents, "ttlMs": 0, "cacheScope": "private"}
    return orjson.dumps(fields)[1:-1], answer_headers(context, answered)
