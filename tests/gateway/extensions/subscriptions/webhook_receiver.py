"""A receiver of webhooks on a loopback port."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import orjson


@dataclass(frozen=True)
class ReceivedMessage:
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        message: dict[str, Any] = orjson.loads(self.body)
        return message


class WebhookReceiver:
    """statuses: of the next answers; 204 after them.

    answers: while it is not set, messages are read and not answered.
    """

    def __init__(self) -> None:
        self.url = ""
        self.statuses: list[int] = []
        self.messages: list[ReceivedMessage] = []
        self.answers = asyncio.Event()
        self.answers.set()
        self._changed = asyncio.Condition()

    async def until(self, number: int) -> None:
        async with asyncio.timeout(60), self._changed:
            await self._changed.wait_for(lambda: len(self.messages) >= number)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        except asyncio.IncompleteReadError:  # nothing was left to send
            writer.close()
            return
        pairs = (line.split(": ", 1) for line in head[1:] if line)
        headers = {name.lower(): value for name, value in pairs}
        body = await reader.readexactly(int(headers["content-length"]))
        status = self.statuses.pop(0) if self.statuses else 204
        async with self._changed:
            self.messages.append(ReceivedMessage(headers, body))
            self._changed.notify_all()
        await self.answers.wait()
        writer.write(b"HTTP/1.1 %d Status\r\nContent-Length: 0\r\n\r\n" % status)
        writer.close()


@asynccontextmanager
async def receiving() -> AsyncIterator[WebhookReceiver]:
    receiver = WebhookReceiver()
    async with await asyncio.start_server(receiver.answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        receiver.url = f"http://127.0.0.1:{port}/hooks?of=acme"
        yield receiver
