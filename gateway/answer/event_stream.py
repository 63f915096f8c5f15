"""Server-sent events: a response that is written while somebody reads it, and no longer."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import orjson
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

Tell: TypeAlias = Callable[[str, Mapping[str, Any]], Awaitable[None]]  # an event and its data


class EventStream(Response):
    """write: tells all there is to tell; cancelled once the caller has gone."""

    media_type = "text/event-stream"

    def __init__(
        self, write: Callable[[Tell], Awaitable[None]], headers: Mapping[str, str] | None = None
    ) -> None:
        self.status_code = 200
        self.background = None
        self.body = b""
        self._write = write
        usual = {"cache-control": "no-store", "x-accel-buffering": "no"}  # of proxies, which wait
        self.init_headers({**usual, **(headers or {})})
        del self.headers["content-length"]

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        await send(
            {
                "type": "http.response.start",
                "status": self.status_code,
                "headers": self.raw_headers,
            }
        )

        async def tell(event: str, data: Mapping[str, Any]) -> None:
            body = b"event: %b\ndata: %b\n\n" % (event.encode(), orjson.dumps(data))
            await send({"type": "http.response.body", "body": body, "more_body": True})

        if await while_read(receive, self._write(tell)):
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def while_read(receive: Receive, work: Awaitable[None]) -> bool:
    """Whether the work was done before the caller went away, which ends it.

    receive: of a request whose body has been read.
    """
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(receive))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            await working  # so that what it raised is raised
            return True
        return False
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.wait((working, leaving))


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
