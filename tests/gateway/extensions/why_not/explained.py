"""Asks why documents are missing, and applies the changes that are named."""

from collections.abc import Mapping
from typing import Any

from tests.gateway.support.gateways import Caller


async def why_not(caller: Caller, document_id: str, query: str, **fields: Any) -> dict[str, Any]:
    body = {"query": query, "document_id": document_id, **fields}
    answer = await caller.call("POST", "/v1/search/why-not", json=body)
    assert answer.status_code == 200, answer.text
    explained: dict[str, Any] = answer.json()
    return explained


async def found_after(
    caller: Caller, change: Mapping[str, Any], query: str, **fields: Any
) -> list[str]:
    """The documents of the hits of the changed search."""
    return await caller.found(**patched({"query": query, **fields}, change))


def patched(fields: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON Merge Patch, applied as RFC 7396 says."""
    result = dict(fields)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict):
            result[name] = patched(result.get(name, {}), value)
        else:
            result[name] = value
    return result
