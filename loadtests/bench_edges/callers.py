"""Callers beside a gateway, each with one connection, and when their gateway holds its lease."""

import asyncio
from dataclasses import dataclass

import orjson

from loadtests.load.connection_pool import ConnectionPool, connect
from loadtests.load.request import Call
from loadtests.load.response import HttpResponse

_OK = 200
_FAST_ANSWERS = 3
_NEAR_MS = 20  # of a gateway beside the primary
_LEASED_S_MAX = 120.0


@dataclass(frozen=True, slots=True)
class Caller:
    """Methods raise `Unanswered`."""

    connection: ConnectionPool
    key: str

    async def search(self, query: str) -> HttpResponse:
        body = orjson.dumps({"query": query})
        return await self.connection.send(Call("POST", "/v1/search", body), self.key)

    async def put(self, document_id: str, text: str) -> HttpResponse:
        body = orjson.dumps({"title": document_id, "text": text, "readers": ["tenant"]})
        call = Call("PUT", f"/v1/documents/{document_id}", body)
        return await self.connection.send(call, self.key)


def at(url: str, key: str) -> Caller:
    return Caller(connect(url), key)


async def until_leased(caller: Caller, question: str, one_way_ms: int) -> None:
    """Return when the gateway answers a repeated question without a round trip to the primary."""
    fast = 0
    async with asyncio.timeout(_LEASED_S_MAX):
        while fast < _FAST_ANSWERS:
            reply = await caller.search(question)
            is_fast = reply.status == _OK and reply.seconds * 1000 < max(one_way_ms, _NEAR_MS)
            fast = fast + 1 if is_fast else 0
