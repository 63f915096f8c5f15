"""A response of many pages, each of which is made when the client can take it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gateway.extension import Connection, problems, run_while_connected


class PageStream(Response):
    """pages: are asked for one by one; each is sent at once, so it does not wait for the client.

    If `pages` raises a `Problem`, because the caller has lost its rights, or a `TimeoutError`,
    because they can't be confirmed, the connection is closed without the end of the response, and
    the client knows that it is incomplete.
    """

    def __init__(self, pages: AsyncGenerator[bytes], media_type: str) -> None:
        self.status_code = 200
        self.media_type = media_type
        self.background = None
        self.body = b""
        self._pages = pages
        self.init_headers()
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection: Connection = scope["state"]["connection"]
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        is_complete = False

        async def send_pages() -> None:
            nonlocal is_complete
            async with aclosing(self._pages):
                try:
                    await connection.drain()
                    async for page in self._pages:
                        await send({"type": "http.response.body", "body": page, "more_body": True})
                        await connection.drain()
                except (problems.Problem, TimeoutError):
                    connection.transport.close()
                    await asyncio.get_running_loop().create_future()  # until it is closed
                else:
                    is_complete = True

        await run_while_connected(receive, send_pages())
        if is_complete:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
