"""A bounded number of HTTP connections to one server, which are opened when they are needed."""

import asyncio
from collections import deque
from urllib.parse import quote

from loadtests.load import connection
from loadtests.load.connection import HttpConnection
from loadtests.load.request import Call, encode_request
from loadtests.load.response import HttpResponse

_TIMEOUT_S = 60.0


class Unanswered(Exception):
    """No complete response arrived; the message names the reason in a word or two."""


class TimedOut(Unanswered):
    """No complete response arrived within the timeout."""


class ConnectionPool:
    """A request that finds all connections busy waits, and that wait counts against its timeout.

    resend: whether a request is sent again when a connection that was open before it is lost, since
    the server may have closed an idle connection at that moment. A run that counts errors must not
    resend.
    """

    def __init__(
        self, url: str, *, connections_max: int, timeout_s: float, resend: bool = False
    ) -> None:
        """Raises `ValueError` for a URL that names no HTTP server."""
        connection.check_url(url)
        self._url = url.rstrip("/")
        self._timeout_s = timeout_s
        self._resend = resend
        self._free = asyncio.Semaphore(connections_max)
        self._idle: deque[HttpConnection] = deque()

    async def send(self, call: Call, key: str) -> HttpResponse:
        """Raises `Unanswered`."""
        url = f"{self._url}{quote(call.path)}{call.query}"
        request = encode_request(call.method, url, key, call.body, call.headers)
        try:
            async with asyncio.timeout(self._timeout_s), self._free:
                return await self._exchange(request)
        except TimeoutError:
            raise TimedOut("timeout") from None
        except OSError as error:
            raise Unanswered(type(error).__name__) from None

    async def close(self) -> None:
        for idle in self._idle:
            idle.close()
        await asyncio.sleep(0)

    async def _exchange(self, request: bytes) -> HttpResponse:
        reused = self._open_idle()
        if reused is not None:
            try:
                return await self._exchange_on(reused, request)
            except OSError:
                if not self._resend:
                    raise
        return await self._exchange_on(await connection.connect(self._url), request)

    async def _exchange_on(self, used: HttpConnection, request: bytes) -> HttpResponse:
        response = await used.exchange(request)
        if used.is_open:
            self._idle.append(used)
        return response

    def _open_idle(self) -> HttpConnection | None:
        while self._idle:
            idle = self._idle.pop()
            if idle.is_open:
                return idle
        return None


def connect(url: str) -> ConnectionPool:
    """One connection, opened again when the server has closed it, as an HTTP client keeps it.

    Its timeout is longer than any server is away in a run with faults.
    """
    return ConnectionPool(url, connections_max=1, timeout_s=_TIMEOUT_S, resend=True)
