"""Callers beside a gateway, each with one connection, and the tenant that they ask."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any

import orjson

from loadtests.load.connection_pool import ConnectionPool, Unanswered
from loadtests.load.request import Call
from loadtests.load.response import HttpResponse
from loadtests.workload import topics

_TIMEOUT_S = 60.0  # the first answer of a far gateway takes many round trips
_WORDS = 4  # of a question
_BATCH = 50
_DONE = (200, 201)
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


async def new_tenant(url: str, admin_key: str, name: str) -> str:
    """The key of a new tenant's subject."""
    operator = at(url, admin_key)
    await _post(operator, "/v1/tenants", {"id": name})
    return await new_key(operator, name)


async def new_key(operator: Caller, tenant: str, **fields: Any) -> str:
    body = {"tenant": tenant, "subject": "bench", **fields}
    key: str = orjson.loads((await _post(operator, "/v1/keys", body)).body)["key"]
    return key


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


async def fill(caller: Caller, documents: Sequence[dict[str, Any]]) -> None:
    for begin in range(0, len(documents), _BATCH):
        lines = b"\n".join(map(orjson.dumps, documents[begin : begin + _BATCH]))
        reply = await caller.connection.send(Call("POST", "/v1/documents/batch", lines), caller.key)
        assert reply.status in _DONE, reply.body


def documents(count: int, seed: int) -> Sequence[dict[str, Any]]:
    return topics.build(count, 0, seed).documents


def questions(filled: Sequence[dict[str, Any]], seed: int) -> Iterator[str]:
    """Different questions, endless, each of words of a document."""
    random = Random(seed)  # noqa: S311  no secret
    asked: set[str] = set()
    words = [str(document["text"]).replace(".", "").split() for document in filled]
    while True:
        question = " ".join(random.sample(random.choice(words), _WORDS))
        if question not in asked:
            asked.add(question)
            yield question


async def _post(caller: Caller, path: str, body: dict[str, Any]) -> HttpResponse:
    reply = await caller.connection.send(Call("POST", path, orjson.dumps(body)), caller.key)
    assert reply.status in _DONE, reply.body
    return reply
