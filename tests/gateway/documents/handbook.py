"""A document, and how people read, list and write documents over HTTP."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import orjson

from tests.gateway.support.gateways import Caller

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."


@dataclass(frozen=True)
class People:
    """Everybody of one tenant."""

    ana: Caller
    ben: Caller
    eve: Caller
    admin: Caller
    reader: Caller


async def read(caller: Caller, document_id: str) -> dict[str, Any]:
    answer = await caller.call("GET", f"/v1/documents/{quote(document_id, safe='')}")
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


async def listed(caller: Caller, **parameters: str) -> list[str]:
    answer = await caller.call("GET", "/v1/documents", params=parameters)
    assert answer.status_code == 200, answer.text
    return [document["document_id"] for document in answer.json()["documents"]]


async def batch(caller: Caller, *lines: dict[str, Any]) -> list[dict[str, Any]]:
    content = b"\n".join(map(orjson.dumps, lines))
    answer = await caller.call("POST", "/v1/documents/batch", content=content)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [orjson.loads(line) for line in answer.content.splitlines()]
