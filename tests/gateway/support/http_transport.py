"""HTTP/1.1 to a gateway in the test's own event loop, without TLS, proxies or HTTP/2.

The client's own transport takes four times as long for a request as the gateway.
"""

import asyncio
import select
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import TypeAlias

import httptools
import httpx2

_Address: TypeAlias = tuple[str, int]

_READ_BYTES = 65_536
_IDLE_MAX = 20  # connections of an address that stay open, as with the client's own transport


class HttpTransport(httpx2.AsyncBaseTransport):
    """Keeps connections open, and opens as many as there are requests at once."""

    def __init__(self) -> None:
        self._idle: defaultdict[_Address, list[_Connection]] = defaultdict(list)
        self._is_closed = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        address = (request.url.host, request.url.port or 80)
        limits = request.extensions.get("timeout", {})
        connection = self._take(address) or await _connected(address, limits.get("connect"))
        connection.wait_s_max = limits.get("read")
        try:
            await connection.send(request)
            return await connection.receive(request, partial(self._release, address))
        except BaseException:  # a cancellation too
            connection.close()
            raise

    async def aclose(self) -> None:
        self._is_closed = True
        for idle in self._idle.values():
            for connection in idle:
                connection.close()

    def _take(self, address: _Address) -> "_Connection | None":
        idle = self._idle[address]
        while idle:
            connection = idle.pop()
            if connection.is_open():
                return connection
            connection.close()
        return None

    def _release(self, address: _Address, connection: "_Connection") -> None:
        idle = self._idle[address]
        if self._is_closed or len(idle) == _IDLE_MAX:
            connection.close()
        else:
            idle.append(connection)


async def _connected(address: _Address, wait_s_max: float | None) -> "_Connection":
    try:
        async with asyncio.timeout(wait_s_max):
            return _Connection(*await asyncio.open_connection(*address))
    except TimeoutError as error:
        raise httpx2.ConnectTimeout(str(address)) from error
    except OSError as error:
        raise httpx2.ConnectError(str(error)) from error


class _Connection:
    """One request and its answer at a time. wait_s_max: for the next bytes of an answer."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._file = writer.get_extra_info("socket").fileno()
        self.wait_s_max: float | None = None

    def is_open(self) -> bool:
        """Whether the server has neither closed it nor sent anything between two answers."""
        if self._reader.at_eof() or self._writer.is_closing():
            return False
        poll = select.poll()
        poll.register(self._file, select.POLLIN)
        return not poll.poll(0)

    def close(self) -> None:
        self._writer.close()

    async def send(self, request: httpx2.Request) -> None:
        fields = [b"%s: %s\r\n" % field for field in request.headers.raw]
        start = b"%s %s HTTP/1.1\r\n" % (request.method.encode(), request.url.raw_path)
        self._writer.write(b"".join([start, *fields, b"\r\n"]))
        is_chunked = "Transfer-Encoding" in request.headers
        assert isinstance(request.stream, httpx2.AsyncByteStream)
        try:
            async for part in request.stream:
                if part:
                    self._writer.write(b"%x\r\n%s\r\n" % (len(part), part) if is_chunked else part)
                    await self._writer.drain()
            if is_chunked:
                self._writer.write(b"0\r\n\r\n")
        except ConnectionError:
            pass  # the server may have answered before the end

    async def receive(
        self, request: httpx2.Request, release: Callable[["_Connection"], None]
    ) -> httpx2.Response:
        """The answer. release: called when its body has been read, if another may follow it."""
        answer = _Answer(has_body=request.method != "HEAD")
        while not answer.has_head:
            answer.feed(await self._read())
        return httpx2.Response(
            answer.status,
            headers=answer.headers,
            stream=_Body(self, answer, release),
            extensions={"reason_phrase": answer.reason, "http_version": b"HTTP/1.1"},
        )

    async def read_body(self, answer: "_Answer") -> AsyncIterator[bytes]:
        while True:
            parts, answer.parts = answer.parts, []
            for part in parts:
                yield part
            if answer.is_complete:
                return
            data = await self._read(may_end=answer.ends_with_connection)
            if not data:
                return
            answer.feed(data)

    async def _read(self, *, may_end: bool = False) -> bytes:
        try:
            async with asyncio.timeout(self.wait_s_max):
                data = await self._reader.read(_READ_BYTES)
        except TimeoutError as error:
            raise httpx2.ReadTimeout("the server is silent") from error
        except OSError as error:
            raise httpx2.ReadError(str(error)) from error
        if not data and not may_end:
            raise httpx2.RemoteProtocolError("the server closed the connection")
        return data


class _Answer:
    """What has arrived of an answer; httptools calls the methods named `on_…`."""

    def __init__(self, *, has_body: bool) -> None:
        self._has_body = has_body
        self._parser = httptools.HttpResponseParser(self)
        self.status = 0
        self.reason = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.parts: list[bytes] = []
        self.has_head = False
        self.is_complete = False
        self.may_continue = False

    def feed(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            if not self.is_complete:
                raise httpx2.RemoteProtocolError(str(error)) from error

    @property
    def ends_with_connection(self) -> bool:
        framing = {name.lower() for name, _ in self.headers}
        return not framing & {b"content-length", b"transfer-encoding"}

    def on_status(self, reason: bytes) -> None:
        self.reason = reason

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        if self.status < 200:  # another head follows
            self.headers = []
            return
        self.has_head = True
        # How long the body of an answer without one would be does not say where the next begins.
        self.may_continue = self._has_body and self._parser.should_keep_alive()
        self.is_complete = not self._has_body

    def on_body(self, part: bytes) -> None:
        self.parts.append(part)

    def on_message_complete(self) -> None:
        self.is_complete = self.has_head


class _Body(httpx2.AsyncByteStream):
    def __init__(
        self, connection: _Connection, answer: _Answer, release: Callable[[_Connection], None]
    ) -> None:
        self._connection = connection
        self._answer = answer
        self._release = release

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._connection.read_body(self._answer)

    async def aclose(self) -> None:
        """Before the end, it tells the server that nobody reads on."""
        if self._answer.is_complete and self._answer.may_continue:
            self._release(self._connection)
        else:
            self._connection.close()
