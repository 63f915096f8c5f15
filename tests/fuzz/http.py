"""Hostile HTTP clients against a gateway that runs, while a caller with a key keeps asking.

    python -m tests.fuzz.http [--seconds 30] [--seed 1] [--clients 24]

Exits with 1 if the worker dies, if an answer is not well-formed HTTP or has a status that no
hostile request deserves, if the caller with a key gets anything but its answer in time, or if the
worker's memory keeps growing. Each client has a random generator of its own, made from the seed:
what it sends does not hang on the others.
"""

import argparse
import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

from loadtests.servers import service
from tests.fuzz.http_requests import MUTATIONS, SMUGGLED, Keys, valid

_SETTINGS = {
    "NEARHIT_LOG_LEVEL": "error",
    "NEARHIT_CONNECTIONS_MAX": "2048",
    "NEARHIT_ADDRESS_FAILURES_PER_S": "100",
    "NEARHIT_CONCURRENT_REQUESTS_MAX": "512",
}
_STATUSES = {
    100, 200, 201, 202, 204, 400, 401, 403, 404, 405, 408, 409, 413, 414, 422, 429, 431, 501, 503,
}  # fmt: skip
_PROBE_EVERY_S = 0.1
_PROBE_S_MAX = 2.0  # on a machine that the fuzzer keeps busy, too
_GROWTH_BYTES_MAX = 64_000_000  # once it is warm
_ANSWER_S_MAX = 5.0
_ANSWER_BYTES_MAX = 2_000_000
_SILENT_AT_ONCE = 200


@dataclass(slots=True)
class Findings:
    """statuses: of all answers; wrong: what should not have been, as sentences."""

    statuses: Counter[int] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    probes_s: list[float] = field(default_factory=list)


class Target:
    def __init__(self, host: str, port: int, keys: Keys, findings: Findings) -> None:
        self._address = host, port
        self.keys = keys
        self.findings = findings

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        reader, writer = await asyncio.open_connection(*self._address)
        try:
            yield reader, writer
        finally:
            writer.transport.abort()

    async def exchange(self, *parts: bytes, pause_s: float = 0.0, answers: int = 1) -> None:
        """Send the parts, read up to so many answers, and judge them."""
        with suppress(ConnectionError, TimeoutError):
            async with self.connected() as (reader, writer), asyncio.timeout(_ANSWER_S_MAX):
                reading = asyncio.create_task(self._read(reader, answers))
                try:
                    for part in parts:
                        writer.write(part)
                        await writer.drain()
                        if pause_s:
                            await asyncio.sleep(pause_s)
                    await reading
                finally:
                    reading.cancel()
                    await asyncio.wait((reading,))

    async def _read(self, reader: asyncio.StreamReader, answers: int) -> None:
        for _ in range(answers):
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
                return
            await self._judge(head, reader)

    async def _judge(self, head: bytes, reader: asyncio.StreamReader) -> None:
        line, *lines = head[:-4].split(b"\r\n")
        parts = line.split(b" ", 2)
        if len(parts) != 3 or parts[0] != b"HTTP/1.1" or not parts[1].isdigit():
            self.findings.wrong[f"no status line: {line[:60]!r}"] += 1
            return
        status = int(parts[1])
        self.findings.statuses[status] += 1
        if status not in _STATUSES:
            self.findings.wrong[f"status {status}"] += 1
        headers: Mapping[bytes, bytes] = dict(each.lower().split(b": ", 1) for each in lines)
        if status >= 400 and b"json" not in headers.get(b"content-type", b""):
            self.findings.wrong[f"status {status} without a problem"] += 1
        if status >= 200 and b"content-length" in headers:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                await reader.readexactly(int(headers[b"content-length"]))


Attack = Callable[[Target, random.Random], Awaitable[None]]


async def slow(target: Target, rng: random.Random) -> None:
    """A byte or some at a time, of a head or a body."""
    request = valid(rng, target.keys)
    step = rng.choice((1, 7, 50))
    parts = [request[place : place + step] for place in range(0, len(request), step)]
    await target.exchange(*parts, pause_s=rng.choice((0.0, 0.01, 0.3)))


async def huge(target: Target, rng: random.Random) -> None:
    """Much of what should be little."""
    size = rng.choice((33_000, 1_000_000, 20_000_000))
    begin = rng.choice(
        (
            b"GET /",
            b"GET / HTTP/1.1\r\nHost: x\r\nX: ",
            b"POST /v1/search HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;",
            target.keys.head(b"POST", b"/v1/search") + b"Content-Length: 99999999\r\n\r\n",
            target.keys.head(b"POST", b"/v1/search")
            + b"Transfer-Encoding: chunked\r\n\r\nfffffff\r\n",
        )
    )
    await target.exchange(begin, *[b"a" * 65_536] * (size // 65_536 + 1))


async def many_headers(target: Target, rng: random.Random) -> None:
    line = rng.choice((b"X: 1\r\n", b"Authorization: Bearer x\r\n", b"Host: x\r\n", b"\r \n"))
    await target.exchange(b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + line * rng.randrange(2, 5_000))


async def half_sent(target: Target, rng: random.Random) -> None:
    """Connections that stop in the middle, many at once, and are left."""
    request = valid(rng, target.keys if rng.random() < 0.5 else Keys("", ""))

    async def one() -> None:
        with suppress(ConnectionError):
            async with target.connected() as (_, writer):
                writer.write(request[: rng.randrange(len(request))])
                await asyncio.sleep(rng.random() * 2)

    await asyncio.gather(*(one() for _ in range(rng.randrange(1, _SILENT_AT_ONCE))))


async def smuggled(target: Target, rng: random.Random) -> None:
    await target.exchange(rng.choice(SMUGGLED) + valid(rng, target.keys), answers=3)


async def pipelined(target: Target, rng: random.Random) -> None:
    number = rng.randrange(2, 200)
    await target.exchange(
        b"".join(valid(rng, target.keys) for _ in range(number)), answers=rng.randrange(number)
    )


async def tiny_chunks(target: Target, rng: random.Random) -> None:
    chunks = b"1\r\n \r\n" * rng.randrange(1, 200_000)
    await target.exchange(
        target.keys.head(b"PUT", b"/v1/documents/d")
        + b"Transfer-Encoding: chunked\r\n\r\n"
        + chunks
    )


async def reset(target: Target, rng: random.Random) -> None:
    """Whole requests whose answers nobody waits for."""
    for _ in range(rng.randrange(1, 50)):
        with suppress(ConnectionError):
            async with target.connected() as (_, writer):
                writer.write(valid(rng, target.keys) * rng.randrange(1, 4))
                await asyncio.sleep(rng.choice((0, 0, 0.01)))


async def mutated(target: Target, rng: random.Random) -> None:
    """Valid requests, but for some bytes."""
    for _ in range(20):
        request = valid(rng, target.keys)
        for _ in range(rng.randrange(1, 4)):
            request = rng.choice(MUTATIONS)(rng, request)
        place = rng.randrange(len(request) + 1)
        with suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                await target.exchange(request[:place], request[place:])


ATTACKS: tuple[Attack, ...] = (
    slow, huge, many_headers, half_sent, smuggled, pipelined, tiny_chunks, reset, mutated, mutated,
)  # fmt: skip


async def attack(target: Target, rng: random.Random) -> None:
    while True:
        with suppress(ConnectionError):
            await rng.choice(ATTACKS)(target, rng)


async def probe(url: str, key: str, findings: Findings) -> None:
    """Somebody with a key, who gets an answer each time."""
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(
        base_url=url, headers=headers, timeout=10, verify=False
    ) as client:
        while True:
            begun_s = time.monotonic()
            try:
                answer = await client.post("/v1/search", json={"query": "days of leave"})
            except httpx2.HTTPError as error:
                findings.wrong[f"the caller with a key got {type(error).__name__}"] += 1
            else:
                if answer.status_code != 200:
                    findings.wrong[f"the caller with a key got {answer.status_code}"] += 1
            findings.probes_s.append(time.monotonic() - begun_s)
            await asyncio.sleep(_PROBE_EVERY_S)


def memory_bytes(pid: int) -> int:
    """0 once there is no such process."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    return 0


async def fuzz(made: service.Service, keys: Keys, arguments: argparse.Namespace) -> Findings:
    findings, parts = Findings(), urlsplit(made.url)
    target = Target(parts.hostname or "", parts.port or 0, keys, findings)
    tasks = [asyncio.create_task(probe(made.url, keys.probe, findings))]
    while len(findings.probes_s) < 2:  # its connection is known from then on
        await asyncio.sleep(_PROBE_EVERY_S)
    for number in range(arguments.clients):
        rng = random.Random(f"{arguments.seed}.{number}")  # noqa: S311  no secret
        tasks.append(asyncio.create_task(attack(target, rng)))
    warm_s = arguments.seconds / 4  # models are loaded by the first that need them
    await asyncio.sleep(warm_s)
    before = memory_bytes(made.pid)
    done, _ = await asyncio.wait(
        tasks, timeout=arguments.seconds - warm_s, return_when=asyncio.FIRST_EXCEPTION
    )
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    for task in done:
        task.result()
    after = memory_bytes(made.pid)
    if not after:
        findings.wrong["the worker has died"] += 1
    if after - before > _GROWTH_BYTES_MAX:
        findings.wrong[f"its memory has grown by {(after - before) // 1_000_000} MB"] += 1
    slowest_s = max(findings.probes_s)
    if slowest_s > _PROBE_S_MAX:
        findings.wrong[f"the caller with a key waited {slowest_s:.1f} s"] += 1
    print(f"grown by {(after - before) / 1e6:.0f} MB, slowest probe {slowest_s:.2f} s", flush=True)
    return findings


def made_keys(made: service.Service) -> Keys:
    """One for the attackers and one for the caller whose answers count, of two tenants."""
    operator = {"Authorization": f"Bearer {made.admin_key}"}
    keys = []
    with httpx2.Client(base_url=made.url, headers=operator) as client:
        for tenant in ("acme", "beta"):
            client.post("/v1/tenants", json={"id": tenant}).raise_for_status()
            body = {"tenant": tenant, "subject": "ana", "roles": ["writer"]}
            answer = client.post("/v1/keys", json=body).raise_for_status()
            keys.append(answer.json()["key"])
    return Keys(*keys)


def main() -> None:
    parser = argparse.ArgumentParser(description="Hostile HTTP clients against a gateway.")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clients", type=int, default=24)
    arguments = parser.parse_args()
    with service.nearhit(_SETTINGS) as made:
        findings = asyncio.run(fuzz(made, made_keys(made), arguments))
    print(f"{sum(findings.statuses.values()):,} answers: {dict(sorted(findings.statuses.items()))}")
    print(f"{len(findings.probes_s)} probes")
    if findings.wrong:
        raise SystemExit(
            "\n".join(f"{number} times: {what}" for what, number in findings.wrong.items())
        )


if __name__ == "__main__":
    main()
