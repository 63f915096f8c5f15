"""A way to PostgreSQL that delays each byte, and counts the round trips that wait for another.

A request that is sent after a reply has arrived may need it, so it counts one more than the reply.
Requests that are under way at the same time count once. So the count depends on the delay only if
the client's own work between two requests takes longer than it.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit, urlunsplit

from loadtests.servers.postgres.postgres_programs import SOCKET

_PIECE_BYTES = 65_536
# Parse and Query, with the text that follows; a byte of a value may look like them.
_TEXT = re.compile(rb"[PQ]\0...(?:[^\0]*\0)?([ \n]*(?:--|[A-Z/])[^\0]*)\0", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Request:
    """depth: round trips in a row until its reply. text: its statements, for whoever reads it."""

    depth: int
    connection: int
    text: str


@dataclass(slots=True)
class RoundTrips:
    """url: of the server, through the relay. requests: all until now.

    running: the connections' tasks.
    """

    url: str
    requests: list[Request] = field(default_factory=list)
    delivered: int = 0  # of the replies that have arrived, the deepest
    _arrived: int = 0  # of the requests that have reached the server
    _connections: int = 0
    running: set[asyncio.Task[Any]] = field(default_factory=set)

    def cut(self) -> None:
        """Lose all connections; new ones may begin at once."""
        for task in self.running:
            task.cancel()

    def count(self) -> "Count":
        """Count from here until its `end`."""
        return Count(self, self.delivered, len(self.requests))

    @contextmanager
    def counting(self) -> Iterator["Count"]:
        """Count from here until the block ends."""
        count = self.count()
        try:
            yield count
        finally:
            count.end()

    def opened(self) -> int:
        self._connections += 1
        return self._connections

    def sent(self, connection: int, text: str) -> int:
        """The depth of a request that is sent now."""
        depth = self.delivered + 1
        self.requests.append(Request(depth, connection, text))
        return depth

    def arrived(self, depth: int) -> None:
        self._arrived = max(self._arrived, depth)

    def replied(self, depth: int) -> int:
        """The depth of what the server sends; 0 if nobody on the connection has asked for it."""
        return depth or self._arrived

    def received(self, depth: int) -> None:
        self.delivered = max(self.delivered, depth)


@dataclass(slots=True)
class Count:
    _trips: RoundTrips
    _base: int
    _first: int
    total: int = 0
    requests: list[Request] = field(default_factory=list)

    def end(self) -> None:
        self.requests = [
            Request(request.depth - self._base, request.connection, request.text)
            for request in self._trips.requests[self._first :]
        ]
        self.total = max((request.depth for request in self.requests), default=0)

    def __str__(self) -> str:
        return "\n".join(
            f"{request.depth:3} {request.connection:3} {request.text}" for request in self.requests
        )


@asynccontextmanager
async def relay(url: str, way_s: float) -> AsyncIterator[RoundTrips]:
    """Lead to the server of the URL, by TCP; each byte takes so many seconds, in each direction."""
    trips = RoundTrips("")

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None, "the server runs it as one"
        trips.running.add(task)
        with closing(writer), suppress(OSError, asyncio.CancelledError):
            await _Connection(trips, way_s).run(reader, writer, *await _open(url))
        trips.running.discard(task)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    trips.url = _through(url, port)
    try:
        yield trips
    finally:
        server.close()
        trips.cut()
        await asyncio.gather(*trips.running)


class _Connection:
    def __init__(self, trips: RoundTrips, way_s: float) -> None:
        self._trips = trips
        self._way_s = way_s
        self._number = trips.opened()
        self._asked = 0  # the depth of the last request; 0 once it is answered

    async def run(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        server_reader: asyncio.StreamReader,
        server_writer: asyncio.StreamWriter,
    ) -> None:
        depth = self._trips.sent(self._number, "connect")
        await asyncio.sleep(2 * self._way_s)
        self._trips.received(depth)
        forth = asyncio.create_task(self._forth(reader, server_writer))
        try:
            await self._back(server_reader, writer)
        finally:
            forth.cancel()
            server_writer.close()

    async def _forth(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        with suppress(OSError):
            while piece := await reader.read(_PIECE_BYTES):
                depth = self._trips.sent(self._number, _text(piece))
                loop.call_later(self._way_s, self._arrive, depth, writer, piece)
        await asyncio.sleep(self._way_s)
        writer.close()

    async def _back(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        with suppress(OSError):
            while piece := await reader.read(_PIECE_BYTES):
                depth = self._trips.replied(self._asked)
                loop.call_later(self._way_s, self._deliver, depth, writer, piece)
        await asyncio.sleep(self._way_s)

    def _arrive(self, depth: int, writer: asyncio.StreamWriter, piece: bytes) -> None:
        self._asked = depth
        self._trips.arrived(depth)
        with suppress(OSError, RuntimeError):  # the other end has gone meanwhile
            writer.write(piece)

    def _deliver(self, depth: int, writer: asyncio.StreamWriter, piece: bytes) -> None:
        self._trips.received(depth)
        with suppress(OSError, RuntimeError):
            writer.write(piece)


def _text(piece: bytes) -> str:
    texts = [match.decode(errors="replace") for match in _TEXT.findall(piece)]
    return " | ".join(" ".join(text.split())[:100] for text in texts) or f"{piece[:24]!r}"


async def _open(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    parts = urlsplit(url)
    host = parse_qs(parts.query).get("host", [parts.hostname or ""])[0]
    if host.startswith("/"):
        return await asyncio.open_unix_connection(f"{host}/{SOCKET}")
    return await asyncio.open_connection(host, parts.port or 5432)


def _through(url: str, port: int) -> str:
    parts = urlsplit(url)
    login, at, _ = parts.netloc.rpartition("@")
    return urlunsplit(
        parts._replace(netloc=f"{login}{at}127.0.0.1:{port}", query="sslmode=disable")
    )
