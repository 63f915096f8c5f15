"""Sessions of conversations, as tests write them."""

from typing import Any

import httpx2

from tests.gateway.support.gateways import Caller

DAY = "2023-07-17"


def turns(*said: str) -> list[dict[str, Any]]:
    """Of texts such as `Ana: Hello.`"""
    heads = (text.partition(": ") for text in said)
    return [{"speaker": speaker, "text": text} for speaker, _, text in heads]


async def write(
    caller: Caller, session: str, *said: str, at: str = DAY, **fields: Any
) -> dict[str, Any]:
    body = {"at": at, "turns": turns(*said), **fields}
    answer = await caller.call("PUT", f"/v1/conversations/{session}", json=body)
    assert answer.status_code == 200, answer.text
    written: dict[str, Any] = answer.json()
    return written


async def add(
    caller: Caller, session: str, *said: str, headers: Any = None, **fields: Any
) -> httpx2.Response:
    """fields: of the last turn."""
    added = turns(*said)
    added[-1] |= fields
    path = f"/v1/conversations/{session}"
    return await caller.call("POST", path, json={"turns": added}, headers=headers or {})


async def hits(caller: Caller, query: str, **fields: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await caller.search(query, **fields)).json()["hits"]
    return found


async def said(caller: Caller, query: str, **fields: Any) -> list[str]:
    """The texts of the hits, best first."""
    return [hit["text"] for hit in await hits(caller, query, **fields)]
