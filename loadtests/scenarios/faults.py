"""Faults under load, of the servers and of a hosted embedding service: who notices them?"""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, closing, suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias
from urllib.parse import urlsplit
from zlib import crc32

import orjson
import uvloop
from rich.console import Console

from loadtests.bench import measurement
from loadtests.bench.frame import SETTINGS, Run
from loadtests.bench.section import Bar, Section, rows_section
from loadtests.loadtest.driver import Load
from loadtests.loadtest.environment import LoadEnvironment
from loadtests.servers import server_set
from loadtests.servers.faults import fault
from loadtests.servers.faults.fault import Fault
from loadtests.servers.processes import raise_file_limit
from loadtests.servers.server_set import ServerSet
from loadtests.workload.agents import Agents

BEFORE_S, LASTS_S, AFTER_S = 6.0, 5.0, 12.0
LOAD = Load(rate=100.0, writes=2.0, warm_up_s=3.0, timeout_s=5.0, connections=256)
RECOVERED_S_MAX = 5.0  # a starting value, not measured
_LASTS_S = {"gateway killed": 0.0}  # by fault, if not LASTS_S
_WRONG = ("stale", "leaked")
_COLUMNS = {
    **measurement.PHASE_COLUMNS,
    "during_errors": ("errors during", ",d"),
    "after_errors": ("after", ",d"),
    "write_errors": ("of writes", ",d"),
    "recovered_s": ("s to recover", ".1f"),
    **{name: (name, ",d") for name in _WRONG},
}
Results: TypeAlias = Mapping[str, Mapping[str, Any]]  # by fault, its figures
_SERVERS_TEXT = (
    "PostgreSQL crashes when one of its processes is killed: it closes all connections and "
    "recovers by itself. Paused, it keeps its connections and answers nothing. A killed gateway is "
    "started again at once; its recovery is its start. *Cut off* means that a relay between the "
    "gateway and Redis ends; Redis keeps its memory. While its disk is full, Redis can save no "
    "snapshot and refuses all writes until one succeeds."
)
_EMBEDDER_TEXT = (
    "The service answers in 20 ms. During the fault it accepts requests and drops them: searches "
    "use words alone, and writes that need embeddings are queued or rejected, and repeated."
)


def measure_servers(run: Run) -> Section:
    """Redis, PostgreSQL and the gateway."""
    raise_file_limit()
    servers = server_set.running(1, SETTINGS, wired=True)
    results = measurement.on(servers, run, partial(_measure_all, run))
    return _section("Servers", _SERVERS_TEXT, results)


async def _measure_all(run: Run, started: ServerSet, environment: LoadEnvironment) -> Results:
    agents = environment.agents(LOAD)
    return {
        name: await _measure_fault(
            *(environment, fault, agents, run.console), lasts_s=_LASTS_S.get(name, LASTS_S)
        )
        for name, fault in _faults(started).items()
    }


def measure_embedder(run: Run) -> Section:
    """A hosted embedding service that becomes unavailable."""
    return uvloop.run(_measure_embedder(run))


async def _measure_embedder(run: Run) -> Section:
    async with serving() as service:
        settings = {
            "NEARHIT_EMBEDDER": "openai:words",
            "NEARHIT_OPENAI_BASE_URL": service.url,
            "NEARHIT_OPENAI_API_KEY": "none",
            "NEARHIT_OPENAI_DIMENSIONS": str(WIDTH),
        }
        with ExitStack() as stack:
            running = server_set.running(1, {**SETTINGS, **settings})
            started = await asyncio.to_thread(stack.enter_context, running)
            way, admin_key = started.ways[0], started.admin_key
            async with measurement.environment(way, admin_key, run) as environment:
                agents = environment.agents(LOAD)
                fault = Fault(service.leave, service.come_back, is_silent=True)
                result = await _measure_fault(environment, fault, agents, run.console)
            await asyncio.to_thread(stack.close)  # while the service still answers
    return _section("A hosted embedder", _EMBEDDER_TEXT, {"embedding service away": result})


def _faults(started: ServerSet) -> dict[str, Fault]:
    """All but those of a worker, which the load does without."""
    crowd = SlowConnections(started.ways[0])
    simple = dict(fault.of(started, started.gateways[0]))
    del simple["worker killed"]
    slow = Fault(crowd.come, crowd.go, is_silent=True)
    return simple | {f"{CONNECTIONS:,} slow connections": slow}


async def _measure_fault(
    environment: LoadEnvironment,
    fault: Fault,
    agents: Agents,
    console: Console,
    *,
    lasts_s: float = LASTS_S,
) -> dict[str, Any]:
    counts = environment.judge.counts
    before = {name: counts[name] for name in _WRONG}
    load = replace(LOAD, seconds=BEFORE_S + lasts_s + AFTER_S)
    disturb = partial(fault.last, lasts_s)
    measured, figures = await measurement.disturbed(
        environment, load, agents, disturb, quiet_s=BEFORE_S
    )
    result = {
        **measured,
        "write_errors": sum(
            count for what, count in figures.errors.items() if what.startswith("write")
        ),
        **{name: counts[name] - before[name] for name in _WRONG},
        "is_silent": fault.is_silent,
    }
    console.print(str(result), markup=False)
    return result


def _section(title: str, text: str, results: Results) -> Section:
    every = results.values()
    errors = sum(
        result[f"{name}_errors"]
        for result in every
        if result["is_silent"]
        for name in measurement.PHASES
    )
    longest_s = max(result["recovered_s"] for result in every)
    bars = [
        *(
            Bar(f"{name} answers", sum(result[name] for result in every), at_most=0)
            for name in _WRONG
        ),
        Bar("errors from faults that may cause none", errors, at_most=0),
        Bar("seconds to recover, at most", longest_s, at_most=RECOVERED_S_MAX),
    ]
    return rows_section(title, text, "fault", results, _COLUMNS, bars)


CONNECTIONS = 10_000
_AT_ONCE = 200
_BEGINNING = b"POST /v1/search HTTP/1.1\r\nHost: crowd\r\nContent-Length: 100\r\n"


class SlowConnections:
    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None, "the URL names a host"
        assert parts.port is not None, "and a port"
        self._host, self._port = parts.hostname, parts.port
        self._transports: list[asyncio.Transport] = []

    async def come(self) -> None:
        for _ in range(0, CONNECTIONS, _AT_ONCE):
            await asyncio.gather(*(self._connect() for _ in range(_AT_ONCE)))
        open_count = sum(not transport.is_closing() for transport in self._transports)
        if open_count < CONNECTIONS:
            raise RuntimeError(f"only {open_count} connections could be made: see ulimit -n")

    async def go(self) -> None:
        for transport in self._transports:
            transport.abort()
        self._transports.clear()
        await asyncio.sleep(0)

    async def _connect(self) -> None:
        with suppress(OSError):
            transport, _ = await asyncio.get_running_loop().create_connection(
                asyncio.Protocol, self._host, self._port
            )
            self._transports.append(transport)
            transport.write(_BEGINNING)


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
