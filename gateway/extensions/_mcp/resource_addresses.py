"""The addresses of answers as resources: the address of one is the search itself.

Pure.
"""

from typing import Any
from urllib.parse import parse_qs

import orjson

from gateway.extension import SearchBody, problems, schemas
from gateway.extensions._mcp.search_arguments import SearchArguments

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
