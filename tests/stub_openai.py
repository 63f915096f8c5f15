"""A service of embeddings, chat and rerank on a loopback port, that misbehaves as it is told."""

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from hashlib import blake2b
from typing import Any, TypeAlias

WIDTH = 8
TOKENS = 3  # that each text is said to use


@dataclass(frozen=True, slots=True)
class Reply:
    """retry: the header that says when to come again; a millisecond spares the tests the wait.

    waits: what it waits for before it is sent.
    """

    body: bytes
    status: int = 200
    retry: str | None = "Retry-After-Ms: 1"
    waits: asyncio.Event | None = None

    def __bytes__(self) -> bytes:
        lines = (
            f"HTTP/1.1 {self.status} Stub",
            "Content-Type: application/json",
            f"Content-Length: {len(self.body)}",
            "Connection: close",
            *([self.retry] if self.retry else []),
            "\r\n",
        )
        return "\r\n".join(lines).encode() + self.body


class Mischief(Enum):
    HANG_UP = "closes the connection without a word"
    BREAK_OFF = "closes it in the middle of the body"
    SILENCE = "never answers"


@dataclass(frozen=True, slots=True)
class Stream:
    """What a language model writes, bit by bit; one that does not end is broken off.

    holds: whether it waits after the last one until the client leaves.
    waits: what it waits for after the last one, before it ends.
    """

    pieces: Sequence[str]
    ends: bool = True
    holds: bool = False
    waits: asyncio.Event | None = None
    reason: str = "stop"


Answer: TypeAlias = Callable[[Sequence[str]], Reply | Mischief]
ChatAnswer: TypeAlias = Callable[[str], Reply | Mischief | Stream]  # to what the user says
RerankAnswer: TypeAlias = Callable[[str, Sequence[str]], Reply | Mischief]  # to query and texts


@dataclass(frozen=True, slots=True)
class Asked:
    authorization: str
    body: dict[str, Any]
    at_s: float = field(default_factory=time.monotonic)
    traceparent: str = ""


@dataclass(slots=True)
class StubOpenAI:
    """`first` are given once each, in order; `answer` ever after; the same of the chat's."""

    url: str = ""
    answer: Answer = field(default=lambda texts: embeddings([vector(text) for text in texts]))
    first: deque[Answer] = field(default_factory=deque)
    asked: list[Asked] = field(default_factory=list)
    chat_answer: ChatAnswer = field(default=lambda said: chat(said))  # noqa: PLW0108  it is below
    chat_first: deque[ChatAnswer] = field(default_factory=deque)
    chats: list[Asked] = field(default_factory=list)
    rerank_answer: RerankAnswer = field(
        default=lambda _, texts: reranked([(place, 1 / (1 + place)) for place in range(len(texts))])
    )
    reranks: list[Asked] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)  # in the middle of a stream
    _server: asyncio.Server | None = None
    _open: set[asyncio.StreamWriter] = field(default_factory=set)

    async def start(self) -> None:
        """Listen; once more on the same port, if it has done so before."""
        port = int(self.url.rpartition(":")[2].removesuffix("/v1")) if self.url else 0
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port)
        host, port = self._server.sockets[0].getsockname()
        self.url = f"http://{host}:{port}/v1"

    def strike(self) -> None:
        """Nobody listens any more, and whoever waits for an answer gets none."""
        assert self._server is not None
        self._server.close()
        for writer in self._open:
            writer.transport.abort()

    async def kill(self) -> None:
        self.strike()
        assert self._server is not None
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                await self.serve(reader, writer)
        finally:
            self._open.discard(writer)
            writer.close()  # also of a client that left before it had asked

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path, asked = await _read(reader)
        match self._answer(path, asked):
            case Reply() as reply:
                if reply.waits is not None:
                    await reply.waits.wait()
                writer.write(bytes(reply))
            case Stream() as stream:
                await self._write(stream, reader, writer)
            case Mischief.BREAK_OFF:
                writer.write(bytes(Reply(b"{" * 100))[:-50])
            case Mischief.SILENCE:
                await reader.read()  # until the client gives up
            case Mischief.HANG_UP:
                pass
        writer.close()
        await writer.wait_closed()

    async def _write(
        self, stream: Stream, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        head = "HTTP/1.1 200 Stub\r\nContent-Type: text/event-stream\r\n"
        writer.write(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        usage = {"prompt_tokens": TOKENS, "completion_tokens": 1, "total_tokens": TOKENS + 1}
        pieces: list[dict[str, Any]] = [_piece({"content": each}, None) for each in stream.pieces]
        await _send(writer, pieces)
        if stream.waits is not None:
            await stream.waits.wait()
        if stream.ends:
            end = [_piece({}, stream.reason), {**_piece({}, None), "choices": [], "usage": usage}]
            await _send(writer, end)
        if stream.holds:
            await reader.read()
            self.left.set()
        elif stream.ends:
            writer.write(_chunk("data: [DONE]\n\n") + b"0\r\n\r\n")

    def _answer(self, path: str, asked: Asked) -> Reply | Mischief | Stream:
        if path.endswith("/chat/completions"):
            return self._chat(asked)
        if path.endswith("/rerank"):
            self.reranks.append(asked)
            return self.rerank_answer(asked.body["query"], asked.body["documents"])
        return self._embed(asked)

    def _embed(self, asked: Asked) -> Reply | Mischief:
        self.asked.append(asked)
        answer = self.first.popleft() if self.first else self.answer
        return answer(asked.body["input"])

    def _chat(self, asked: Asked) -> Reply | Mischief | Stream:
        self.chats.append(asked)
        answer = self.chat_first.popleft() if self.chat_first else self.chat_answer
        return answer(asked.body["messages"][-1]["content"])


@asynccontextmanager
async def stub_openai() -> AsyncIterator[StubOpenAI]:
    stub = StubOpenAI()
    await stub.start()
    try:
        yield stub
    finally:
        await stub.kill()


async def _read(reader: asyncio.StreamReader) -> tuple[str, Asked]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = {
        name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:])
    }
    body = await reader.readexactly(int(headers["content-length"]))
    return head[0].split()[1], Asked(
        headers.get("authorization", ""),
        json.loads(body),
        traceparent=headers.get("traceparent", ""),
    )


async def _send(writer: asyncio.StreamWriter, events: Sequence[dict[str, Any]]) -> None:
    for event in events:
        writer.write(_chunk(f"data: {json.dumps(event)}\n\n"))
        await writer.drain()


def _piece(delta: dict[str, str], finish_reason: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"id": "1", "object": "chat.completion.chunk", "model": "stub", "choices": [choice]}


def _chunk(text: str) -> bytes:
    return b"%x\r\n%b\r\n" % (len(text.encode()), text.encode())


def vector(text: str) -> list[float]:
    """The text's own vector, of WIDTH, which is not of unit length."""
    digest = blake2b(text.encode(), digest_size=WIDTH).digest()
    return [byte + 1.0 for byte in digest]


def embeddings(vectors: Sequence[Sequence[float]]) -> Reply:
    """A well-formed reply; NaN and infinity as Python writes them."""
    data = [
        {"object": "embedding", "index": index, "embedding": vector}
        for index, vector in enumerate(vectors)
    ]
    used = TOKENS * len(vectors)
    usage = {"prompt_tokens": used, "total_tokens": used}
    reply = {"object": "list", "data": data, "model": "stub", "usage": usage}
    return Reply(json.dumps(reply).encode())


def chat(content: str | None, finish_reason: str = "stop") -> Reply:
    """A well-formed reply of a language model."""
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    usage = {"prompt_tokens": TOKENS, "completion_tokens": 1, "total_tokens": TOKENS + 1}
    reply = {"object": "chat.completion", "model": "stub", "choices": [choice], "usage": usage}
    return Reply(json.dumps(reply).encode())


def reranked(scores: Sequence[tuple[int, float]]) -> Reply:
    """A well-formed reply of a service that puts texts in order: places and scores."""
    results = [{"index": place, "relevance_score": score} for place, score in scores]
    return Reply(json.dumps({"id": "1", "results": results}).encode())
