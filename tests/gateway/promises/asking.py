"""Requests that choose a promise, and the writes and limits that they are about."""

from typing import Any

import httpx2

from tests.gateway.support.gateways import Caller

WINDOW_MS = 60_000  # longer than a test, so that only what it does ends it
LEAVE = "Everybody has {} days of leave."


async def asked(caller: Caller, revision: str | None = None, **fields: Any) -> httpx2.Response:
    headers = {} if revision is None else {"Nearhit-Min-Revision": revision}
    body = {"query": "days of leave", **fields}
    return await caller.call("POST", "/v1/search", json=body, headers=headers)


async def written(caller: Caller, days: int) -> str:
    """The revision from which on answers say so."""
    answer = await caller.call(
        "PUT",
        "/v1/documents/leave",
        json={"text": LEAVE.format(days), "readers": ["tenant"]},
    )
    assert answer.status_code == 200, answer.text
    revision: str = answer.headers["nearhit-revision"]
    return revision


async def limit(admin: Caller, max_staleness_ms: int | None) -> None:
    body = {"max_staleness_ms": max_staleness_ms}
    answer = await admin.call("PUT", "/v1/consistency", json=body)
    assert (answer.status_code, answer.json()) == (200, body)


def tool_call(name: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
