"""An embedding service with OpenAI's API that can become unavailable."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing, suppress
from zlib import crc32

import orjson

WIDTH = 64
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_LATENCY_S = 0.02  # of a hosted service; a starting value, not measured


class Embeddings:
    """A vector counts the words of a text. is_unavailable: requests are accepted and dropped."""

    def __init__(self) -> None:
        self.is_unavailable = False
        self.url = ""

    async def leave(self) -> None:
        self.is_unavailable = True

    async def come_back(self) -> None:
        self.is_unavailable = False

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = _LENGTH.search(head)
                body_sent = await reader.readexactly(int(length[1]) if length else 0)
                if self.is_unavailable:
                    return
                await asyncio.sleep(_LATENCY_S)
                body = _embedded(orjson.loads(body_sent)["input"])
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                    b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
                )


@asynccontextmanager
async def serving() -> AsyncIterator[Embeddings]:
    service = Embeddings()
    server = await asyncio.start_server(service.answer, "127.0.0.1", 0)
    async with server:
        service.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        yield service
        server.close()


def _embedded(texts: Sequence[str]) -> bytes:
    data = [
        {"object": "embedding", "index": index, "embedding": list(_vector(text))}
        for index, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return orjson.dumps({"object": "list", "data": data, "model": "words", "usage": usage})


def _vector(text: str) -> Iterator[float]:
    counts = [0.01] * WIDTH
    for word in text.lower().split():
        counts[crc32(word.encode()) % WIDTH] += 1.0
    yield from counts
