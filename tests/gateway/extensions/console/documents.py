"""What a tenant has stored, as the tests of the documents page write and read it."""

from collections.abc import Iterable
from typing import Any

import orjson

from tests.gateway.support.gateways import Caller


async def ids(caller: Caller) -> list[str]:
    answer = await caller.call("GET", "/v1/documents")
    return [document["document_id"] for document in answer.json()["documents"]]


async def stored(caller: Caller, document_id: str) -> dict[str, Any]:
    found: dict[str, Any] = (await caller.call("GET", f"/v1/documents/{document_id}")).json()
    return found


async def put_all(caller: Caller, documents: Iterable[dict[str, Any]]) -> None:
    written = await caller.call(
        "POST",
        "/v1/documents/batch",
        content=b"\n".join(map(orjson.dumps, documents)),
        headers={"Content-Type": "application/x-ndjson"},
    )
    assert written.status_code == 200, written.text
