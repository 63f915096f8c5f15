"""Many connections, each of which begins a request and never completes it."""

import asyncio
from contextlib import suppress
from urllib.parse import urlsplit

CONNECTIONS = 10_000
_AT_ONCE = 200
_BEGINNING = b"POST /v1/search HTTP/1.1\r\nHost: crowd\r\nContent-Length: 100\r\n"


class SlowConnections:
    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None, "the URL names a host"
        assert parts.port is not None, "and a port"
        self._host, self._port = parts.hostname, parts.port
        self._transports: list[asyncio.Transport] = []

    async def come(self) -> None:
        for _ in range(0, CONNECTIONS, _AT_ONCE):
            await asyncio.gather(*(self._connect() for _ in range(_AT_ONCE)))
        open_count = sum(not transport.is_closing() for transport in self._transports)
        if open_count < CONNECTIONS:
            raise RuntimeError(f"only {open_count} connections could be made: see ulimit -n")

    async def go(self) -> None:
        for transport in self._transports:
            transport.abort()
        self._transports.clear()
        await asyncio.sleep(0)

    async def _connect(self) -> None:
        with suppress(OSError):
            transport, _ = await asyncio.get_running_loop().create_connection(
                asyncio.Protocol, self._host, self._port
            )
            self._transports.append(transport)
            transport.write(_BEGINNING)
