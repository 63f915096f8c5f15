"""HTTP/1.1 by hand, on one connection: what the driver takes of the machine, no server gets."""

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from loadtests.workload.calls import Call

_STATUS = re.compile(rb"HTTP/1\.1 (\d{3})")
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CACHE_STATUS = re.compile(rb"\r\ncache-status: *([^\r]*)", re.IGNORECASE)
_REVISION = re.compile(rb"\r\nnearhit-revision: *(\d+)(?:;public=(\d+))?", re.IGNORECASE)
_DEGRADED = re.compile(rb"\r\nnearhit-degraded:", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
_TIMEOUT_S = 60.0  # longer than any server of the soak is away
_END = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    head: bytes
    body: bytes

    @property
    def tier(self) -> str:
        """memory, redis, semantic, or miss."""
        found = _CACHE_STATUS.search(self.head)
        detail = "" if found is None else found[1].decode().rpartition("detail=")[2]
        name = detail.strip('"').partition(" ")[0]
        return name if name in ("memory", "redis", "semantic") else "miss"

    @property
    def is_degraded(self) -> bool:
        """Whether the embedder took no part in the answer."""
        return _DEGRADED.search(self.head) is not None

    def revisions(self, tenant: str) -> dict[str, int]:
        """Of each partition, up to which a search's answer is right; none if it does not say."""
        found = _REVISION.search(self.head)
        if found is None:
            return {}
        own, public = found.groups()
        return {tenant: int(own)} | ({} if public is None else {"public": int(public)})


class Connection:
    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, call: Call, key: str) -> Reply:
        """Raises `OSError`, `EOFError` and `TimeoutError`."""
        headers = "".join(f"{name}: {value}\r\n" for name, value in call.headers)
        request = (
            f"{call.method} {quote(call.path)}{call.query} HTTP/1.1\r\n"
            f"Host: {self._parts.netloc}\r\n"
            f"Authorization: Bearer {key}\r\n"
            "Content-Type: application/json\r\n"
            f"{headers}"
            f"Content-Length: {len(call.body)}\r\n\r\n"
        ).encode() + call.body
        async with asyncio.timeout(_TIMEOUT_S):
            return await self._sent(request)

    async def call(self, method: str, path: str, key: str, body: bytes = b"") -> Reply:
        return await self.send(Call(method, path, body), key)

    async def _sent(self, request: bytes) -> Reply:
        if self._streams is not None:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                return await self._exchanged(request)
            # Nobody had used it for a while, and so the server has just closed it.
        self._streams = await self._connect()
        return await self._exchanged(request)

    async def _exchanged(self, request: bytes) -> Reply:
        assert self._streams is not None, "it is connected"
        (reader, writer), self._streams = self._streams, None  # unless all of the reply comes
        try:
            writer.write(request)
            head = await reader.readuntil(_END)
            status, length = _STATUS.match(head), _LENGTH.search(head)
            assert status is not None, head
            if _CHUNKED.search(head):
                content = await _chunks(reader)
            else:
                content = await reader.readexactly(0 if length is None else int(length[1]))
        except BaseException:
            writer.close()
            raise
        self._streams = reader, writer
        return Reply(int(status[1]), head, content)

    async def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        assert self._parts.hostname is not None
        return await asyncio.open_connection(self._parts.hostname, self._parts.port)


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    """A body in chunked transfer coding, as RFC 9112 has it in section 7.1."""
    content = bytearray()
    while size := int(await reader.readuntil(b"\r\n"), 16):
        content += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readuntil(b"\r\n")
    return bytes(content)
