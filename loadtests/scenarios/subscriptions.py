"""Many subscriptions on one gateway, and how soon an edit reaches those that it concerns."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import httpx2
import uvloop
from rich.console import Console

from loadtests.bench.frame import SETTINGS, Run
from loadtests.bench.section import Bar, Section, rows_section
from loadtests.load.figures import Latencies
from loadtests.servers import metrics, service
from loadtests.servers.processes import raise_file_limit
from loadtests.servers.service import Service
from loadtests.workload.tenant_client import new_tenant

_DELAY_MS_MAX = 50.0
_OF_A_DOCUMENT = 5  # subscriptions: its question with top_k from 1 to so many, so none are equal
_INTERVAL_S = 1.0  # the least time between two events of a stream, by default
_AT_ONCE = 16
_EVENT_S_MAX = 30.0
_COLUMNS = {
    "count": ("count", ",d"),
    "p50_ms": ("P50 ms", ".1f"),
    "p99_ms": ("P99 ms", ".1f"),
    "max_ms": ("longest ms", ".1f"),
}
_EVALUATIONS = "nearhit_subscription_evaluations_total"
_SYLLABLES = ("ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru")


@dataclass(eq=False, slots=True)
class _Stream:
    """One subscription's stream. heard_s: when its events arrived."""

    document: int
    heard_s: list[float] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def listen(self, url: str, key: str, subscription_id: str) -> None:
        host, port = url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        path = f"/v1/subscriptions/{subscription_id}/events"
        head = f"GET {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {key}\r\n\r\n"
        writer.write(head.encode())
        try:
            while line := await reader.readline():
                if line.startswith(b"event: answer"):
                    self.heard_s.append(time.perf_counter())
                    self.changed.set()
        finally:
            writer.close()

    async def until(self, events: int) -> None:
        async with asyncio.timeout(_EVENT_S_MAX):
            while len(self.heard_s) < events:
                self.changed.clear()
                await self.changed.wait()


@dataclass(slots=True)
class _Edits:
    """delays: from the acknowledgement of each edit to each event; 0 for one that came before.

    answers: from the request of each edit to its acknowledgement.
    """

    delays: Latencies = field(default_factory=Latencies)
    answers: Latencies = field(default_factory=Latencies)
    computed: float = 0.0
    unconcerned: int = 0


def measure(run: Run) -> Section:
    raise_file_limit()
    number, rounds = run.sized((10_000, 500), (250, 20))
    limits = {
        "NEARHIT_SUBSCRIPTIONS_SUBJECT_MAX": str(number),
        "NEARHIT_SUBSCRIPTIONS_TENANT_MAX": str(number),
    }
    documents = [
        {"document_id": f"note-{one}", **_document(one, "as it was at first")}
        for one in range(number // _OF_A_DOCUMENT)
    ]
    with (
        service.nearhit({**SETTINGS, **limits}) as gateway,
        new_tenant(gateway, "bench", roles=("writer",)) as tenant,
    ):
        tenant.put(documents)
        measuring = _measured(gateway, tenant.key, len(documents), rounds, run.console)
        edits = uvloop.run(measuring)
    rows = {
        "from the acknowledgement to the event": edits.delays.as_json(),
        "the edit itself": edits.answers.as_json(),
    }
    concerned = rounds * _OF_A_DOCUMENT
    others = f", and none for the other {number - _OF_A_DOCUMENT:,} subscriptions of each edit"
    notes = (
        f"One gateway holds {number:,} streams of as many subscriptions, no two of which ask the "
        f"same. {rounds} edits, one after the other, concern {_OF_A_DOCUMENT} of them "
        "each. An event that arrives before the acknowledgement of its edit counts as 0 ms. "
        f"The gateway computed {edits.computed:,.0f} answers for {concerned:,} events"
        f"{others if edits.computed == concerned else ''}."
    )
    bars = [
        Bar("P99 ms beyond the edit", edits.delays.percentile_ms(99), at_most=_DELAY_MS_MAX),
        Bar("answers computed for others", edits.computed - concerned, at_most=0),
        Bar("events to others", edits.unconcerned, at_most=0),
    ]
    return rows_section("Subscriptions", notes, "", rows, _COLUMNS, bars, computed=edits.computed)


async def _measured(
    gateway: Service, key: str, documents: int, edits: int, console: Console
) -> _Edits:
    async with httpx2.AsyncClient(base_url=gateway.url, timeout=120) as client:
        client.headers["Authorization"] = f"Bearer {key}"
        streams, tasks = await _streams(client, gateway.url, key, documents, console)
        try:
            await asyncio.sleep(_INTERVAL_S)  # since the first event of the last stream
            return await _edit(client, gateway, streams, edits)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _streams(
    client: httpx2.AsyncClient, url: str, key: str, documents: int, console: Console
) -> tuple[Sequence[_Stream], Sequence["asyncio.Task[None]"]]:
    """A stream of each subscription, once its first answer has arrived."""
    limit = asyncio.Semaphore(_AT_ONCE)
    streams = [_Stream(number % documents) for number in range(documents * _OF_A_DOCUMENT)]
    tasks = []

    async def open_stream(number: int, stream: _Stream) -> None:
        async with limit:
            search = {"query": _name(stream.document), "alpha": 0, "top_k": 1 + number // documents}
            answer = await client.post("/v1/subscriptions", json={"search": search})
            answer.raise_for_status()
            tasks.append(asyncio.create_task(stream.listen(url, key, answer.json()["id"])))
            await stream.until(1)

    started_s = time.perf_counter()
    await asyncio.gather(*(open_stream(*numbered) for numbered in enumerate(streams)))
    console.print(f"{len(streams):,} streams in {time.perf_counter() - started_s:.0f} s")
    return streams, tasks


async def _edit(
    client: httpx2.AsyncClient, gateway: Service, streams: Sequence[_Stream], edits: int
) -> _Edits:
    result = _Edits()
    documents = len(streams) // _OF_A_DOCUMENT
    computed = metrics.read(gateway.url, _EVALUATIONS, outcome="computed")
    for number in range(edits):
        concerned = streams[number % documents :: documents]
        body = _document(number % documents, f"edited for the time number {number}")
        before = [len(stream.heard_s) for stream in concerned]
        sent_s = time.perf_counter()
        path = f"/v1/documents/note-{number % documents}"
        (await client.put(path, json=body)).raise_for_status()
        acknowledged_s = time.perf_counter()
        await asyncio.gather(
            *(stream.until(events + 1) for stream, events in zip(concerned, before, strict=True))
        )
        result.answers.add(acknowledged_s - sent_s)
        for stream in concerned:
            result.delays.add(max(0.0, stream.heard_s[-1] - acknowledged_s))
    result.computed = metrics.read(gateway.url, _EVALUATIONS, outcome="computed") - computed
    heard = sum(len(stream.heard_s) for stream in streams)
    result.unconcerned = heard - len(streams) - edits * _OF_A_DOCUMENT
    return result


def _document(number: int, state: str) -> dict[str, object]:
    return {"text": f"The note on {_name(number)}, {state}."}


def _name(number: int) -> str:
    """A word that no other document holds."""
    return "".join(_SYLLABLES[int(digit)] for digit in f"{number:05d}")
