"""Server-sent events: a response that is generated while the client is connected."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import orjson
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

# Sends an event and its data.
SendEvent: TypeAlias = Callable[[str, Mapping[str, Any]], Awaitable[None]]


class EventStream(Response):
    """write: sends all events; it is cancelled if the client disconnects."""

    media_type = "text/event-stream"

    def __init__(
        self,
        write: Callable[[SendEvent], Awaitable[None]],
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.status_code = 200
        self.background = None
        self.body = b""
        self._write = write
        # x-accel-buffering: a proxy must not buffer the events.
        defaults = {"cache-control": "no-store", "x-accel-buffering": "no"}
        self.init_headers({**defaults, **(headers or {})})
        del self.headers["content-length"]

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        await send(
            {
                "type": "http.response.start",
                "status": self.status_code,
                "headers": self.raw_headers,
            }
        )

        async def send_event(event: str, data: Mapping[str, Any]) -> None:
            body = b"event: %b\ndata: %b\n\n" % (event.encode(), orjson.dumps(data))
            await send({"type": "http.response.body", "body": body, "more_body": True})

        if await run_while_connected(receive, self._write(send_event)):
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def run_while_connected(receive: Receive, work: Awaitable[None]) -> bool:
    """Run the work until the client disconnects; whether it was completed.

    receive: of a request whose body has been read.
    """
    task = asyncio.ensure_future(work)
    disconnect = asyncio.ensure_future(_wait_for_disconnect(receive))
    try:
        await asyncio.wait((task, disconnect), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task  # raises the exception of the work
            return True
        return False
    finally:
        task.cancel()
        disconnect.cancel()
        await asyncio.wait((task, disconnect))


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
