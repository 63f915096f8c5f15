"""Answers to searches as resources. The address of one is the search itself; nothing is stored."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

import orjson

from gateway import problems, schemas
from gateway.auth.freshness import revision_header
from gateway.http.request_context import RequestContext
from gateway.http.responses import cache_headers
from gateway.mcp import results
from gateway.mcp.mcp_services import McpServices
from gateway.mcp.search_arguments import SearchArguments
from gateway.mcp.tool import Headers
from gateway.search.pipeline import search_as_caller
from gateway.search.response_headers import cache_status
from gateway.search.schemas.search_schemas import SearchBody
from gateway.search.search_request import require_within_limits

URI_TEMPLATE = "nearhit://search{?query,top_k,source*}"
_DIGITS_MAX = 9  # more than any limit; JSON is written with integers of 64 bits


def search_of(uri: str) -> SearchBody:
    """The search that the address names. A 422 `Problem` if it names none."""
    address, _, query_string = uri.partition("?")
    if address != "nearhit://search":
        raise problems.invalid_field("uri", f"must be like {URI_TEMPLATE}")
    fields = parse_qs(query_string)
    (query,) = fields.pop("query", [""])[:1]
    arguments: dict[str, Any] = {"query": query}
    if top_k := fields.pop("top_k", []):
        if not (top_k[0].isdecimal() and len(top_k[0]) <= _DIGITS_MAX):
            raise problems.invalid_field("top_k", "must be a number")
        arguments["top_k"] = int(top_k[0])
    if sources := fields.pop("source", []):
        arguments["sources"] = sources
    if fields:
        raise problems.invalid_field("uri", f"must be like {URI_TEMPLATE}")
    parsed = schemas.parse(SearchArguments, orjson.dumps(arguments))
    return schemas.parse(SearchBody, parsed.body())


async def read(
    context: RequestContext[McpServices], params: Mapping[str, Any]
) -> tuple[bytes, Headers]:
    """The contents of the resource: the hits that the caller gets now, as the tool returns them."""
    uri = str(params.get("uri"))
    body = search_of(uri)
    require_within_limits(body)
    answered = await search_as_caller(context, context.services.search, body)
    answer, tenant = answered.answer, answered.request.scope.tenant
    text = results.search(orjson.loads(answer.body), tenant=tenant, tokens_max=results.TOKENS_MAX)
    contents = [{"uri": uri, "mimeType": "application/json", "text": text.decode()}]
    headers = [
        *cache_headers(context.http.settings, (b"cache-status", cache_status(answer))),
        (b"nearhit-revision", revision_header(answer.valid_until, tenant)),
        (b"nearhit-consistency", answered.consistency),
    ]
    fields = {"contents": contents, "ttlMs": 0, "cacheScope": "private"}
    return orjson.dumps(fields)[1:-1], headers
