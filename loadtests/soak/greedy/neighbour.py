"""A tenant that takes all it may of one kind, until it is told to stop.

    python -m loadtests.soak.greedy.neighbour KIND

Reads one line of JSON: the gateway's URL, the tenant's keys, and the URL of a slow site. Says
`ready`, and after the end of its input the number of responses by status, as JSON. It is a process
of its own that any server's step interrupts, so that its work delays no measured request: a client
elsewhere uses no processor of the servers.
"""

import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import count
from typing import Any

import orjson

from loadtests.load import connection
from loadtests.load.request import encode_request
from loadtests.servers.processes import raise_file_limit

_PAUSE_S = 0.02  # after a refusal: more would be the load of the generator, not of the tenant
_ADDRESSES = 16  # source addresses; the gateway limits the connections of each
_CONNECTIONS = 4_096
_SUBSCRIPTIONS = 100  # of each key's subject
_SOURCES = 10
_TEXT = "The harbour master lights the lamp at dusk and notes it in the book of the pier. "
_MESSAGES = [{"role": "user", "content": f"{number} {_TEXT * 30}"} for number in range(95)]
_CONVERSATION = orjson.dumps({"messages": _MESSAGES, "token_budget": 500})


class GreedyTenant:
    def __init__(self, url: str, keys: list[str], site: str) -> None:
        self.statuses: Counter[str] = Counter()
        self._url, self._keys, self._site = url, keys, site
        self._numbers = count()

    async def take(self, kind: str) -> None:
        match kind:
            case "connections":
                await asyncio.gather(*map(self._hold, range(_CONNECTIONS)))
            case "sources":  # the worker reads them, until `end` removes them
                await asyncio.Event().wait()
            case _:
                connections, request = _REPEATED[kind]
                await self._repeat(connections, partial(request, self))

    async def prepare(self, kind: str) -> None:
        """Before the period: what this kind of greed needs."""
        if kind == "subscriptions":
            await asyncio.gather(*map(self._subscribe, self._keys))
        elif kind == "sources":
            settings = {"url": self._site, "pages_per_s": 0.02}
            body = orjson.dumps({"kind": "web", "settings": settings})
            for number in range(_SOURCES):
                path = f"/v1/sources/slow{number}"
                await self._send(self._encode("PUT", path, self._keys[0], body))
                await self._send(self._encode("POST", f"{path}/reindex", self._keys[0]))

    async def end(self, kind: str) -> None:
        """After the period, so that the next one without this neighbour is calm."""
        if kind == "sources":
            for number in range(_SOURCES):
                path = f"/v1/sources/slow{number}"
                await self._send(self._encode("DELETE", path, self._keys[0]))

    async def _subscribe(self, key: str) -> None:
        for number in range(_SUBSCRIPTIONS):
            search = {"query": f"lamp of the pier {number}", "top_k": 10}
            body = orjson.dumps({"search": search, "deliver": {"interval_ms": 100}})
            await self._send(self._encode("POST", "/v1/subscriptions", key, body))

    async def _repeat(self, connections: int, request: Callable[[str], bytes]) -> None:
        """Send the request with one key after the other, as fast as each connection answers."""

        async def loop(number: int) -> None:
            while True:
                opened = None
                try:
                    opened = await connection.connect(self._url, _address(number))
                    while opened.is_open:
                        key = self._keys[next(self._numbers) % len(self._keys)]
                        response = await opened.exchange(request(key))
                        self.statuses[str(response.status)] += 1
                        if response.status >= 400:
                            await asyncio.sleep(_PAUSE_S)
                except OSError:
                    self.statuses["closed"] += 1
                    await asyncio.sleep(_PAUSE_S)
                finally:
                    if opened is not None:
                        opened.close()

        await asyncio.gather(*map(loop, range(connections)))

    async def _hold(self, number: int) -> None:
        """A connection that has had one good answer, opened again whenever it is closed."""
        while True:
            try:
                opened = await connection.connect(self._url, _address(number))
                response = await opened.exchange(self.search(self._keys[0]))
                self.statuses[str(response.status)] += 1
                while opened.is_open:
                    await asyncio.sleep(1)
            except OSError:
                self.statuses["closed"] += 1
            await asyncio.sleep(1)

    async def _send(self, request: bytes) -> None:
        opened = await connection.connect(self._url)
        response = await opened.exchange(request)
        self.statuses[str(response.status)] += 1
        opened.close()

    def search(self, key: str) -> bytes:
        body = orjson.dumps({"query": f"who lights lamp number {next(self._numbers)}?"})
        return self._encode("POST", "/v1/search", key, body)

    def compress(self, key: str) -> bytes:
        return self._encode("POST", "/v1/compress", key, _CONVERSATION)

    def batch(self, key: str) -> bytes:
        start = next(self._numbers)
        lines = [
            orjson.dumps(
                {"document_id": f"b{start % 20}/{number}", "text": f"{start} {_TEXT * 20}"}
            )
            for number in range(100)
        ]
        return self._encode("POST", "/v1/documents/batch", key, b"\n".join(lines))

    def edit(self, key: str) -> bytes:
        number = next(self._numbers)
        body = orjson.dumps({"text": f"The lamp of the pier has number {number}. {_TEXT}"})
        return self._encode("PUT", f"/v1/documents/edited{number % 10}", key, body)

    def upload(self, key: str) -> bytes:
        text = f"{next(self._numbers)} {_TEXT * 40_000}".encode()[:4_000_000]
        body = (
            b'--x\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nassistants\r\n'
            b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n'
            b"Content-Type: text/plain\r\n\r\n" + text + b"\r\n--x--\r\n"
        )
        request = self._encode("POST", "/v1/files", key, body)
        return request.replace(b"application/json", b"multipart/form-data; boundary=x", 1)

    def _encode(self, method: str, path: str, key: str, body: bytes = b"") -> bytes:
        return encode_request(method, f"{self._url}{path}", key, body)


# By kind, how many connections repeat which request.
_REPEATED: Mapping[str, tuple[int, Callable[[GreedyTenant, str], bytes]]] = {
    "searches": (128, GreedyTenant.search),
    "compress": (64, GreedyTenant.compress),
    "writes": (16, GreedyTenant.batch),
    "subscriptions": (4, GreedyTenant.edit),
    "uploads": (16, GreedyTenant.upload),
}
# In this order one after the other: what one leaves behind meets the next.
KINDS = ("searches", "compress", "writes", "connections", "subscriptions", "uploads", "sources")


def _address(number: int) -> str:
    return f"127.0.1.{1 + number % _ADDRESSES}"


def _lines() -> Iterator[Any]:
    yield from map(json.loads, sys.stdin)


async def _main(kind: str) -> None:
    lines = _lines()
    neighbour = GreedyTenant(**next(lines))
    await neighbour.prepare(kind)
    work = asyncio.create_task(neighbour.take(kind))
    print("ready", flush=True)
    ended = asyncio.create_task(asyncio.to_thread(lambda: [*lines]))
    await asyncio.wait((work, ended), return_when=asyncio.FIRST_COMPLETED)
    if work.done():
        work.result()
    work.cancel()
    await asyncio.wait([work])
    await neighbour.end(kind)
    print(json.dumps(neighbour.statuses), flush=True)


if __name__ == "__main__":
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    raise_file_limit()
    asyncio.run(_main(sys.argv[1]))
