"""Callers beside a gateway, each with one connection, and when their gateway holds its lease."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass

import orjson

from loadtests.load.connection_pool import ConnectionPool, Unanswered
from loadtests.load.request import Call
from loadtests.load.response import HttpResponse

_TIMEOUT_S = 60.0  # the first answer of a far gateway takes many round trips
_OK = 200
_FAST_ANSWERS = 3
_NEAR_MS = 20  # of a gateway beside the primary
_LEASED_S_MAX = 120.0
_PROBE_S = 0.05


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
    pool = ConnectionPool(url, connections_max=1, timeout_s=_TIMEOUT_S, resend=True)
    return Caller(pool, key)


async def until_leased(caller: Caller, question: str, one_way_ms: int) -> None:
    """Return when the gateway answers a repeated question without a round trip to the primary."""
    fast = 0
    async with asyncio.timeout(_LEASED_S_MAX):
        while fast < _FAST_ANSWERS:
            reply = await caller.search(question)
            is_fast = reply.status == _OK and reply.seconds * 1000 < max(one_way_ms, _NEAR_MS)
            fast = fast + 1 if is_fast else 0


async def until_one_is_fast(url: str, key: str, question: str, one_way_ms: int) -> None:
    """Return when the gateway answers without a round trip, while earlier requests still wait.

    A request is sent every `_PROBE_S`, so that is how late this may return.
    """
    asked: set[asyncio.Task[None]] = set()
    is_leased = asyncio.Event()

    async def ask() -> None:
        caller = at(url, key)
        with suppress(Unanswered):
            reply = await caller.search(question)
            if reply.status == _OK and reply.seconds * 1000 < one_way_ms:
                is_leased.set()
        await caller.connection.close()

    async with asyncio.timeout(_LEASED_S_MAX):
        while not is_leased.is_set():
            asked.add(asyncio.create_task(ask()))
            with suppress(TimeoutError):
                async with asyncio.timeout(_PROBE_S):
                    await is_leased.wait()
    for task in asked:
        task.cancel()
    await asyncio.gather(*asked, return_exceptions=True)
