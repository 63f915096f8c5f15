"""HTTP/1.1 over a bounded number of connections: what the driver takes of the machine, no server
gets.

Who finds all of them busy waits in line, and that wait is a part of what is measured.
"""

import asyncio
import ssl
import time
from collections import deque
from dataclasses import dataclass
from typing import cast
from urllib.parse import quote, urlsplit

import httptools

_TOLD = {b"cache-status", b"server-timing", b"nearhit-revision"}  # headers that are looked at


class Unanswered(Exception):
    """No whole answer came; the message says in a word or two why."""


@dataclass(frozen=True, slots=True)
class Reply:
    """sent_s, answered_s: of `time.monotonic`; the latter when its last byte was there."""

    status: int
    headers: dict[bytes, str]
    body: bytes
    sent_s: float
    answered_s: float

    @property
    def tier(self) -> str:
        """Which cache answered, memory, redis or semantic; miss if none did."""
        status = self.headers.get(b"cache-status", "")
        if "; hit" not in status:
            return "miss"
        return status.rpartition("detail=")[2].strip('"').partition(" ")[0]

    @property
    def revision(self) -> int | None:
        """Of the caller's tenant, up to which an answer is right; None if it doesn't say."""
        told = self.headers.get(b"nearhit-revision", "").partition(";")[0]
        return int(told) if told.isdecimal() else None


class Connections:
    """Raises `ValueError` for what is no URL of a server."""

    def __init__(self, url: str, *, most: int, timeout_s: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or parts.hostname is None:
            raise ValueError(f"{url} is no URL such as http://127.0.0.1:8080")
        self._host, self._port = parts.hostname, parts.port
        self._authority, self._prefix = parts.netloc, parts.path.rstrip("/")
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._timeout_s = timeout_s
        self._free = asyncio.Semaphore(most)
        self._idle: deque[_Connection] = deque()

    async def ask(self, method: str, path: str, key: str, body: bytes = b"") -> Reply:
        """Raises `Unanswered`."""
        head = (
            f"{method} {self._prefix}{quote(path, safe='/?=&')} HTTP/1.1\r\n"
            f"Host: {self._authority}\r\n"
            f"Authorization: Bearer {key}\r\n"
            "Content-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        try:
            # What waits for a connection waits for its answer, too.
            async with asyncio.timeout(self._timeout_s), self._free:
                return await self._exchanged(head.encode() + body)
        except TimeoutError:
            raise Unanswered("timeout") from None
        except OSError as error:
            raise Unanswered(type(error).__name__) from None

    async def _exchanged(self, request: bytes) -> Reply:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open:
                break
        else:
            connection = await self._connected()
        try:
            reply = await connection.exchange(request)
        except BaseException:
            connection.close()
            raise
        if connection.is_open:
            self._idle.append(connection)
        return reply

    async def _connected(self) -> "_Connection":
        port = self._port or (443 if self._tls else 80)
        _, connection = await asyncio.get_running_loop().create_connection(
            _Connection, self._host, port, ssl=self._tls
        )
        return connection

    async def close(self) -> None:
        for connection in self._idle:
            connection.close()
        await asyncio.sleep(0)


class _Connection(asyncio.Protocol):
    """One answer at a time."""

    def __init__(self) -> None:
        self.is_open = False
        self._answered: asyncio.Future[Reply] | None = None
        self._parser: httptools.HttpResponseParser | None = None
        self._headers: dict[bytes, str] = {}
        self._body = bytearray()
        self._sent_s = 0.0

    async def exchange(self, request: bytes) -> Reply:
        self._answered = asyncio.get_running_loop().create_future()
        self._parser = httptools.HttpResponseParser(self)
        self._headers, self._body = {}, bytearray()
        self._sent_s = time.monotonic()
        self._transport.write(request)
        return await self._answered

    def close(self) -> None:
        self.is_open = False
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.is_open = True

    def connection_lost(self, error: Exception | None) -> None:
        self.is_open = False
        self._fail(error or ConnectionResetError("the server closed the connection"))

    def data_received(self, data: bytes) -> None:
        if self._parser is None:
            self.close()  # it said something that nobody asked for
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self.close()
            self._fail(ConnectionError("no HTTP"))

    def on_header(self, name: bytes, value: bytes) -> None:
        lower = name.lower()
        if lower in _TOLD:
            self._headers[lower] = value.decode("latin-1")

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        assert self._parser is not None
        assert self._answered is not None
        self.is_open = self.is_open and self._parser.should_keep_alive()
        status = self._parser.get_status_code()
        self._parser = None
        if not self._answered.done():
            self._answered.set_result(
                Reply(status, self._headers, bytes(self._body), self._sent_s, time.monotonic())
            )
        if not self.is_open:
            self.close()

    def _fail(self, error: Exception) -> None:
        if self._answered is not None and not self._answered.done():
            self._answered.set_exception(error)
