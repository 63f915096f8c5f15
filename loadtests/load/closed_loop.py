"""A closed loop: a number of connections, each sending its next request when it has its answer.

Good for the ratio of two servers' capacities in one run; not for latency, which a closed loop
flatters. It talks HTTP/1.1 by hand: what the generator takes from the machine, no server gets.
"""

import asyncio
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import urlsplit

import numpy as np

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CACHE_STATUS = re.compile(rb"\r\ncache-status: *([^\r]*)", re.IGNORECASE)
_END = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Target:
    """Where requests go, and the key that they come with; other headers, if there are any."""

    url: str
    key: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def encoded(self, body: bytes) -> bytes:
        parts = urlsplit(self.url)
        others = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        head = (
            f"POST {parts.path} HTTP/1.1\r\n"
            f"Host: {parts.netloc}\r\n"
            f"Authorization: Bearer {self.key}\r\n"
            "Content-Type: application/json\r\n"
            f"{others}"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body


@dataclass(frozen=True, slots=True)
class Answer:
    """A 200, and how long it took from when the request was sent."""

    head: bytes
    body: bytes
    seconds: float

    @property
    def cache_status(self) -> str:
        found = _CACHE_STATUS.search(self.head)
        return "" if found is None else found[1].decode()

    @property
    def is_hit(self) -> bool:
        return "; hit" in self.cache_status


@dataclass(frozen=True, slots=True)
class Outcome:
    """Requests answered with 200 in the time, and how long each took, sorted, in seconds.

    hits: how many a cache answered.
    """

    seconds: float
    latencies_s: list[float]
    hits: int

    @property
    def per_second(self) -> float:
        return len(self.latencies_s) / self.seconds

    def percentile_ms(self, share: float) -> float:
        return float(np.quantile(self.latencies_s, share)) * 1000


async def drive(
    target: Target, bodies: Iterator[bytes], *, connections: int, seconds: float
) -> Outcome:
    """Send the bodies one after the other until the time is over, or they are.

    Raises `RuntimeError` for any answer other than 200.
    """
    latencies_s: list[float] = []
    hits = 0

    def take(_: int, answer: Answer) -> None:
        nonlocal hits
        latencies_s.append(answer.seconds)
        hits += b"; hit" in answer.head

    started_s = time.perf_counter()
    until_s = started_s + seconds
    await _run(target, connections, _numbered(bodies, until_s), take)
    return Outcome(time.perf_counter() - started_s, sorted(latencies_s), hits)


async def ask_all(target: Target, bodies: Sequence[bytes], *, connections: int) -> list[Answer]:
    """The answer to each, each asked once.

    Raises `RuntimeError` for any answer other than 200.
    """
    answers: list[Answer | None] = [None] * len(bodies)
    await _run(target, connections, enumerate(bodies), answers.__setitem__)
    return cast("list[Answer]", answers)


def _numbered(bodies: Iterable[bytes], until_s: float) -> Iterator[tuple[int, bytes]]:
    for number, body in enumerate(bodies):
        if time.perf_counter() >= until_s:
            return
        yield number, body


async def _run(
    target: Target,
    connections: int,
    bodies: Iterator[tuple[int, bytes]],
    take: Callable[[int, Answer], None],
) -> None:
    parts = urlsplit(target.url)
    assert parts.hostname is not None, "the URL names a host"
    assert parts.port is not None, "and a port"
    requests = ((number, target.encoded(body)) for number, body in bodies)
    loop = asyncio.get_running_loop()
    callers = []
    for _ in range(connections):
        _, caller = await loop.create_connection(
            lambda: _Caller(requests, take), parts.hostname, parts.port
        )
        callers.append(caller)
    await asyncio.gather(*(caller.done for caller in callers))


class _Caller(asyncio.Protocol):
    """One connection, which takes its next request from those that are left to all."""

    def __init__(
        self, requests: Iterator[tuple[int, bytes]], take: Callable[[int, Answer], None]
    ) -> None:
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._requests = requests
        self._take = take
        self._received = bytearray()
        self._length = 0  # of the answer under way, once its head is there
        self._head_length = 0
        self._number = 0
        self._sent_s = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._send()

    def data_received(self, data: bytes) -> None:
        self._received += data
        if not self._length:
            self._measure()
        if not self._length or len(self._received) < self._length:
            return
        head, body = self._received[: self._head_length], self._received[self._head_length :]
        self._received, self._length = bytearray(), 0
        self._answered(bytes(head), bytes(body))

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(error or RuntimeError("the server closed the connection"))

    def _measure(self) -> None:
        end = self._received.find(_END)
        if end < 0:
            return
        self._head_length = end + len(_END)
        length = _LENGTH.search(self._received, 0, self._head_length)
        assert length is not None, "each answer says how long it is"
        self._length = self._head_length + int(length[1])

    def _answered(self, head: bytes, body: bytes) -> None:
        if not head.startswith(b"HTTP/1.1 200"):
            self._end(RuntimeError((head + body).decode(errors="replace")))
            return
        self._take(self._number, Answer(head, body, time.perf_counter() - self._sent_s))
        self._send()

    def _send(self) -> None:
        request = next(self._requests, None)
        if request is None:
            self._end(None)
            return
        self._number, encoded = request
        self._sent_s = time.perf_counter()
        self._transport.write(encoded)

    def _end(self, error: Exception | None) -> None:
        if error is None:
            self.done.set_result(None)
        else:
            self.done.set_exception(error)
        self._transport.close()
