"""Sends a response's head and body in one write, where uvicorn writes twice.

Each write is a system call, and the first would wake the caller for a head without a body.
"""

import asyncio
from collections.abc import Callable
from typing import Any

HELD_BYTES_MAX = 65_536  # beyond it, a stream is sent as it is written


class BufferedTransport:
    """A transport that buffers writes until `flush`, or until the event loop's next iteration.

    end: closes the transport, at once or when the peer has read what was written.
    held_bytes: of what was written since the system had taken all: it stays in memory, whole, until
    the last of it is taken.
    """

    def __init__(self, transport: asyncio.Transport, end: Callable[[], None] | None = None) -> None:
        self._transport = transport
        self._end = end or transport.close
        self._is_ending = False
        self._loop = asyncio.get_running_loop()
        self._pieces: list[bytes] = []
        self._size_bytes = 0
        self.held_bytes = 0

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

    def detach(self) -> None:
        """Let go of what `end` holds: the connection, which is lost."""
        self._end = self._transport.close

    def flush(self) -> None:
        if self._pieces and not self._transport.is_closing():
            self.send(b"".join(self._pieces))
        self._pieces.clear()
        self._size_bytes = 0

    def send(self, message: bytes) -> None:
        """Write the message at once, behind nothing that is buffered."""
        if not self._transport.get_write_buffer_size():
            self.held_bytes = 0
        self.held_bytes += len(message)
        self._transport.write(message)
