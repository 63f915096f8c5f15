"""Requests as bytes, for what no HTTP client would send."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import orjson

from tests.gateway.support.gateways import Caller, Gateway

WAIT_S_MAX = 120.0


@dataclass(frozen=True, slots=True)
class RawAnswer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def kind(self) -> str:
        """Of the problem that it is."""
        document: dict[str, Any] = orjson.loads(self.body)
        assert document["status"] == self.status
        return str(document["type"]).removeprefix("urn:nearhit:problem:")


class RawConnection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, data: bytes) -> None:
        """As far as the other side takes it."""
        with suppress(ConnectionError):
            self._writer.write(data)
            await self._writer.drain()

    async def answer(self) -> RawAnswer:
        async with asyncio.timeout(WAIT_S_MAX):
            head = await self._reader.readuntil(b"\r\n\r\n")
            line, *lines = head.decode().rstrip().split("\r\n")
            pairs = (each.split(": ", 1) for each in lines)
            headers = {name.lower(): value for name, value in pairs}
            body = await self._reader.readexactly(int(headers.get("content-length", 0)))
        return RawAnswer(int(line.split(" ")[1]), headers, body)

    async def until(self, end: bytes) -> bytes:
        """All that comes, to this."""
        received = b""
        async with asyncio.timeout(2 * WAIT_S_MAX):
            while end not in received:
                received += await self._reader.read(65_536)
        return received

    async def end(self) -> bytes:
        """What comes until the other side closes."""
        async with asyncio.timeout(WAIT_S_MAX):
            try:
                return await self._reader.read()
            except ConnectionError:
                return b""

    def reset(self) -> None:
        """Gone, whatever is still to be sent."""
        self._writer.transport.abort()


@asynccontextmanager
async def raw(gateway: Gateway, *, buffer_bytes: int = 65_536) -> AsyncIterator[RawConnection]:
    """buffer_bytes: about as much as is read before it is asked for."""
    url = gateway.client.base_url
    connecting = socket.socket()
    connecting.setblocking(False)
    if buffer_bytes < 65_536:
        connecting.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
    await asyncio.get_running_loop().sock_connect(connecting, (url.host, url.port))
    connection = RawConnection(*await asyncio.open_connection(sock=connecting, limit=buffer_bytes))
    try:
        yield connection
    finally:
        connection.reset()


async def ask_raw(gateway: Gateway, data: bytes) -> RawAnswer:
    """The one answer, after which the connection is closed."""
    async with raw(gateway) as connection:
        await connection.send(data)
        answer = await connection.answer()
        assert await connection.end() == b""
    return answer


def head(
    caller: Caller | None, *lines: bytes, method: bytes = b"POST", path: bytes = b"/v1/search"
) -> bytes:
    """Of a request; caller: whose key it has."""
    key = [] if caller is None else [f"Authorization: Bearer {caller.key}".encode()]
    return b"\r\n".join([b"%b %b HTTP/1.1" % (method, path), b"Host: x", *key, *lines, b"", b""])


def search(caller: Caller | None, body: bytes = b'{"query": "leave"}') -> bytes:
    return head(caller, b"Content-Length: %d" % len(body)) + body
