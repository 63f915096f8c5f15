"""A closed loop: a number of connections, each sending its next request when it has its answer.

Good for the ratio of two servers' capacities in one run; not for latency, which a closed loop
flatters.
"""

import asyncio
import time
from dataclasses import dataclass
from itertools import chain
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Request:
    url: str
    body: bytes
    key: str

    def encoded(self) -> bytes:
        parts = urlsplit(self.url)
        head = (
            f"POST {parts.path} HTTP/1.1\r\n"
            f"Host: {parts.netloc}\r\n"
            f"Authorization: Bearer {self.key}\r\n"
            "Content-Type: application/json\r\n"
            f"Content-Length: {len(self.body)}\r\n\r\n"
        )
        return head.encode() + self.body


@dataclass(frozen=True, slots=True)
class Outcome:
    """Requests answered with 200 in the time, and how long each took, sorted, in seconds."""

    seconds: float
    latencies_s: list[float]

    @property
    def per_second(self) -> float:
        return len(self.latencies_s) / self.seconds

    def percentile_ms(self, share: float) -> float:
        place = min(round(share * len(self.latencies_s)), len(self.latencies_s) - 1)
        return self.latencies_s[place] * 1000


async def drive(request: Request, *, connections: int, seconds: float) -> Outcome:
    """Raises `RuntimeError` for any answer other than 200."""
    parts = urlsplit(request.url)
    encoded = request.encoded()
    started_s = time.perf_counter()
    ends_s = started_s + seconds
    drivers = (_drive(parts.hostname, parts.port, encoded, ends_s) for _ in range(connections))
    latencies_s = sorted(chain.from_iterable(await asyncio.gather(*drivers)))
    return Outcome(time.perf_counter() - started_s, latencies_s)


async def _drive(host: str | None, port: int | None, encoded: bytes, ends_s: float) -> list[float]:
    reader, writer = await asyncio.open_connection(host, port)
    latencies_s = []
    try:
        while (sent_s := time.perf_counter()) < ends_s:
            writer.write(encoded)
            await _answer(reader)
            latencies_s.append(time.perf_counter() - sent_s)
    finally:
        writer.close()
        await writer.wait_closed()
    return latencies_s


async def _answer(reader: asyncio.StreamReader) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    if not head.startswith(b"http/1.1 200"):
        raise RuntimeError(head.decode(errors="replace"))
    _, _, rest = head.partition(b"content-length:")
    await reader.readexactly(int(rest.split(b"\r\n", 1)[0]))
