"""Server-sent events: a response that is generated while the client is connected."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import orjson
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from common import background_tasks
from gateway.http.transport.connection import Connection


@dataclass(frozen=True, slots=True)
class Event:
    """event_id: what the client sends as `Last-Event-ID` when it connects again."""

    name: str
    data: Mapping[str, Any]
    event_id: str = ""

    def encode(self) -> bytes:
        line = b"id: %b\n" % self.event_id.encode() if self.event_id else b""
        data = orjson.dumps(self.data)
        return b"%bevent: %b\ndata: %b\n\n" % (line, self.name.encode(), data)


MakeEvent: TypeAlias = Callable[[], Awaitable[Event | None]]


class EventSender:
    """Writes events to the client, each as soon as it is made."""

    def __init__(self, send: Send, connection: Connection) -> None:
        self._send = send
        self._connection = connection
        self._sending = asyncio.Lock()

    async def __call__(self, event: Event) -> None:
        """Send an event that shows nothing of a document, so that its age does not matter."""

        async def make_event() -> Event:
            return event

        await self.send_made(make_event)

    async def send_made(self, make_event: MakeEvent) -> None:
        """Make an event when it can be sent, and send it at once; nothing if it is None.

        An event that is made earlier waits for a slow client, while the right to see it may end.
        """
        async with self._sending:
            await self._connection.drain()
            event = await make_event()
            if event is not None:
                await self._write(event.encode())

    async def keep_alive(self) -> None:
        """Send a comment, so that nobody in between takes the connection for an idle one."""
        await self._connection.drain()
        await self._write(b":\n\n")

    async def _write(self, body: bytes) -> None:
        await self._send({"type": "http.response.body", "body": body, "more_body": True})


class EventStream(Response):
    """write: sends all events; it is cancelled if the client disconnects.

    is_long_lived: whether the stream lasts as long as its client, so that it counts as no
        concurrent request, and ends when the server stops.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        write: Callable[[EventSender], Awaitable[None]],
        headers: Mapping[str, str] | None = None,
        *,
        is_long_lived: bool = False,
    ) -> None:
        self.status_code = 200
        self.background = None
        self.body = b""
        self._write = write
        self.is_long_lived = is_long_lived
        # x-accel-buffering: a proxy must not buffer the events.
        defaults = {"cache-control": "no-store", "x-accel-buffering": "no"}
        self.init_headers({**defaults, **(headers or {})})
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send(
            {
                "type": "http.response.start",
                "status": self.status_code,
                "headers": self.raw_headers,
            }
        )
        connection: Connection = scope["state"]["connection"]
        stop = connection.shutting_down.wait() if self.is_long_lived else None
        sender = EventSender(send, connection)
        if await run_while_connected(receive, self._write(sender), stop):
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def run_while_connected(
    receive: Receive, work: Awaitable[None], stop: Awaitable[object] | None = None
) -> bool:
    """Run the work until the client disconnects or `stop` returns; False if it disconnected.

    receive: of a request whose body has been read.
    """
    task = asyncio.ensure_future(work)
    disconnect = asyncio.ensure_future(_wait_for_disconnect(receive))
    ends = [task, disconnect, *(() if stop is None else (asyncio.ensure_future(stop),))]
    try:
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task  # raises the exception of the work
            return True
        return not disconnect.done()
    finally:
        await background_tasks.end(*ends)


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
