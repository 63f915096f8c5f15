"""HTTP/1.1 by hand, on one connection: what the driver takes of the machine, no server gets."""

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

_STATUS = re.compile(rb"HTTP/1\.1 (\d{3})")
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CACHE_STATUS = re.compile(rb"\r\ncache-status: *([^\r]*)", re.IGNORECASE)
_REVISION = re.compile(rb"\r\nnearhit-revision: *(\d+)(?:;public=(\d+))?", re.IGNORECASE)
_END = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    head: bytes
    body: bytes

    @property
    def tier(self) -> str:
        """memory, redis, or miss."""
        found = _CACHE_STATUS.search(self.head)
        detail = "" if found is None else found[1].decode().rpartition("detail=")[2]
        return detail if detail in ("memory", "redis") else "miss"

    def revisions(self, tenant: str) -> dict[str, int]:
        """Of each partition, up to which a search's answer is right."""
        found = _REVISION.search(self.head)
        assert found is not None, "every answer to a search says so"
        own, public = found.groups()
        return {tenant: int(own)} | ({} if public is None else {"public": int(public)})


class Connection:
    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(self, method: str, path: str, key: str, body: bytes = b"") -> Reply:
        """Raises `OSError` and `EOFError`."""
        request = (
            f"{method} {quote(path)} HTTP/1.1\r\n"
            f"Host: {self._parts.netloc}\r\n"
            f"Authorization: Bearer {key}\r\n"
            "Content-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        ).encode() + body
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
