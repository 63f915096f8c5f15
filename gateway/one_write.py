"""HTTP with a response's head and body in one write, where uvicorn writes twice.

Each write is a system call that wakes the caller up, the first time for a head without a body.
"""

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HELD_BYTES_MAX = 65_536  # what a transport takes for much, too: beyond it a stream goes as it comes


class OneWriteProtocol(HttpToolsProtocol):
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's own
        super().connection_made(cast("asyncio.Transport", Held(transport)))

    def on_response_complete(self) -> None:
        """Whoever waits for the answer need not wait for what is still to be noted of it."""
        cast("Held", self.transport).flush()
        super().on_response_complete()


class Held:
    """A transport that sends together what is written to it until it is told to, or the loop's next
    turn.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._pieces: list[bytes] = []
        self._size_bytes = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._pieces:
            self._loop.call_soon(self.flush)
        self._pieces.append(data)
        self._size_bytes += len(data)
        if self._size_bytes > HELD_BYTES_MAX:
            self.flush()

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def flush(self) -> None:
        if self._pieces and not self._transport.is_closing():
            self._transport.write(b"".join(self._pieces))
        self._pieces.clear()
        self._size_bytes = 0
