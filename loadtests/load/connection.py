"""One HTTP/1.1 connection that carries one request at a time.

It works with callbacks and without tasks: the processor time that the generator uses is missing for
the servers on the same machine.
"""

import asyncio
import ssl
import time
from collections.abc import Callable
from typing import TypeAlias, cast
from urllib.parse import urlsplit

import httptools

from loadtests.load.response import KEPT_HEADERS, HttpResponse

OnResponse: TypeAlias = Callable[[HttpResponse], None]
OnLost: TypeAlias = Callable[[Exception], None]


class HttpConnection(asyncio.Protocol):
    def __init__(self) -> None:
        self.is_open = False
        self._parser = httptools.HttpResponseParser(self)
        self._callbacks: tuple[OnResponse, OnLost] | None = None  # of the request under way
        self._headers: dict[bytes, str] = {}
        self._body = bytearray()
        self._sent_s = 0.0

    def send(self, request: bytes, on_response: OnResponse, on_lost: OnLost) -> None:
        """Send a request; exactly one of the callbacks follows, unless `close` comes first.

        on_lost: gets an `OSError`.
        """
        assert self._callbacks is None, "one request at a time"
        self._callbacks = on_response, on_lost
        self._headers, self._body = {}, bytearray()
        self._sent_s = time.monotonic()
        self._transport.write(request)

    async def exchange(self, request: bytes) -> HttpResponse:
        """Send a request and wait for its response. Raises `OSError`; closed if cancelled."""
        future: asyncio.Future[HttpResponse] = asyncio.get_running_loop().create_future()

        def on_response(response: HttpResponse) -> None:
            if not future.done():  # it may just have been cancelled
                future.set_result(response)

        def on_lost(error: Exception) -> None:
            if not future.done():
                future.set_exception(error)

        self.send(request, on_response, on_lost)
        try:
            return await future
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self.is_open = False
        self._callbacks = None
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.is_open = True

    def connection_lost(self, error: Exception | None) -> None:
        self.is_open = False
        self._fail(error or ConnectionResetError("the server closed the connection"))

    def data_received(self, data: bytes) -> None:
        if self._callbacks is None:
            self.close()  # no request is under way
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self.is_open = False
            self._transport.abort()
            self._fail(ConnectionError("the response is not HTTP/1.1"))

    def on_header(self, name: bytes, value: bytes) -> None:
        lower = name.lower()
        if lower in KEPT_HEADERS:
            self._headers[lower] = value.decode("latin-1")

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        if self._callbacks is None:
            return  # closed within the callback of a response before
        (on_response, _), self._callbacks = self._callbacks, None
        status = self._parser.get_status_code()
        response = HttpResponse(
            status, self._headers, bytes(self._body), self._sent_s, time.monotonic()
        )
        if not self._parser.should_keep_alive():
            self.close()
        on_response(response)

    def _fail(self, error: Exception) -> None:
        if self._callbacks is not None:
            (_, on_lost), self._callbacks = self._callbacks, None
            on_lost(error)


def check_url(url: str) -> None:
    """Raises `ValueError` for a URL that names no HTTP server."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or parts.hostname is None:
        raise ValueError(f"{url} is no URL such as http://127.0.0.1:8080")


async def connect(url: str, address: str | None = None) -> HttpConnection:
    """A connection to the server of the URL, from an address of this machine. Raises `OSError`."""
    parts = urlsplit(url)
    assert parts.hostname is not None, "the URL was checked"
    tls = ssl.create_default_context() if parts.scheme == "https" else None
    _, connection = await asyncio.get_running_loop().create_connection(
        HttpConnection,
        parts.hostname,
        parts.port or (443 if tls else 80),
        ssl=tls,
        local_addr=None if address is None else (address, 0),
    )
    return connection
