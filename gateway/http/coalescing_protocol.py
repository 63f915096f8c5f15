"""A response's head and body in one write, where uvicorn writes twice.

Each write is a system call that wakes the caller up, the first time for a head without a body.
"""

import asyncio
from collections.abc import Callable
from typing import Any

HELD_BYTES_MAX = 65_536  # what a transport takes for much, too: beyond it a stream goes as it comes


class BufferedTransport:
    """A transport that sends together what is written to it until it is told to, or the loop's next
    turn.

    end: closes the transport, now or once the other side has read what was written.
    """

    def __init__(self, transport: asyncio.Transport, end: Callable[[], None] | None = None) -> None:
        self._transport = transport
        self._end = end or transport.close
        self._is_ending = False
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
        if not self.is_closing():
            self._is_ending = True
            self._end()

    def is_closing(self) -> bool:
        return self._is_ending or self._transport.is_closing()

    def flush(self) -> None:
        if self._pieces and not self._transport.is_closing():
            self._transport.write(b"".join(self._pieces))
        self._pieces.clear()
        self._size_bytes = 0
