"""A closed loop: each connection sends its next request when it has its response.

It compares the capacities of two servers in one run. It is no measure of latency, which a closed
loop makes look too good: while the server stalls, nothing is sent.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from loadtests.load import connection
from loadtests.load.connection import HttpConnection
from loadtests.load.figures import Latencies
from loadtests.load.response import HttpResponse

_DONE = (200, 201)


@dataclass(slots=True)
class ClosedLoopResult:
    """latencies: of all responses, from when each request was sent. hits: how many a cache gave."""

    seconds: float = 0.0
    latencies: Latencies = field(default_factory=Latencies)
    hits: int = 0

    @property
    def count(self) -> int:
        return self.latencies.count

    @property
    def per_second(self) -> float:
        return self.count / self.seconds

    def percentile_ms(self, percentile: float) -> float:
        return self.latencies.percentile_ms(percentile)

    def merge(self, other: "ClosedLoopResult") -> None:
        """Add the other one, as if it had run after this one."""
        self.seconds += other.seconds
        self.latencies.merge(other.latencies)
        self.hits += other.hits


async def run(
    url: str, requests: Iterable[bytes], *, connections: int, seconds: float
) -> ClosedLoopResult:
    """Send the requests until the time is over, or until there are none left.

    Raises `RuntimeError` for a status other than 200 and 201, and `OSError` for a lost connection.
    """
    result = ClosedLoopResult()
    latencies_s: list[float] = []

    def record(_: int, response: HttpResponse) -> None:
        latencies_s.append(response.seconds)
        result.hits += response.is_hit

    started_s = time.monotonic()
    numbered = enumerate(_until(started_s + seconds, requests))
    await _send(url, numbered, connections, record)
    result.seconds = time.monotonic() - started_s
    for latency_s in latencies_s:  # not before the end: it costs as much as parsing a response
        result.latencies.add(latency_s)
    return result


async def send_all(url: str, requests: Sequence[bytes], *, connections: int) -> list[HttpResponse]:
    """Send each request once and return the responses in the order of the requests.

    Raises as `run` does.
    """
    responses: list[HttpResponse | None] = [None] * len(requests)
    await _send(url, enumerate(requests), connections, responses.__setitem__)
    return cast("list[HttpResponse]", responses)


def _until(deadline_s: float, requests: Iterable[bytes]) -> Iterator[bytes]:
    for request in requests:
        if time.monotonic() >= deadline_s:
            return
        yield request


async def _send(
    url: str,
    requests: Iterator[tuple[int, bytes]],
    connections: int,
    on_response: Callable[[int, HttpResponse], None],
) -> None:
    senders = [
        _Sender(await connection.connect(url), requests, on_response) for _ in range(connections)
    ]
    for sender in senders:
        sender.send_next()
    await asyncio.gather(*(sender.ended for sender in senders))


class _Sender:
    """Takes its next request from an iterator that all senders share."""

    def __init__(
        self,
        used: HttpConnection,
        requests: Iterator[tuple[int, bytes]],
        on_response: Callable[[int, HttpResponse], None],
    ) -> None:
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._connection = used
        self._requests = requests
        self._on_response = on_response
        self._number = 0

    def send_next(self) -> None:
        numbered = next(self._requests, None)
        if numbered is None:
            self._connection.close()
            self.ended.set_result(None)
            return
        self._number, request = numbered
        self._connection.send(request, self._receive, self.ended.set_exception)

    def _receive(self, response: HttpResponse) -> None:
        if response.status not in _DONE:
            self._connection.close()
            self.ended.set_exception(RuntimeError(response.summary))
            return
        self._on_response(self._number, response)
        self.send_next()
