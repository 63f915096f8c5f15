"""Searches while other connections write to the same tenant in a closed loop."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import orjson
import uvloop

from loadtests.bench.section import Section, table
from loadtests.bench_cache import questions as asking
from loadtests.bench_growth import caller, generated_corpus, plot, probe
from loadtests.bench_growth.options import GrowthRun
from loadtests.bench_growth.probe import Meter, RequestCost
from loadtests.load import closed_loop
from loadtests.load.closed_loop import ClosedLoopResult
from loadtests.load.request import encode_request
from loadtests.servers import service
from loadtests.servers.service import Service
from loadtests.workload import topics
from loadtests.workload.tenant_client import TenantClient, new_tenant

_CONNECTIONS = 8  # that search
_ASKED = 2_000  # questions, by Zipf's law
_DRAWS = 200_000
_SEED = 29


@dataclass(frozen=True, slots=True)
class _WritersRun:
    """searches: their cost; processor time is divided by searches and writes together."""

    searches: RequestCost
    writes: ClosedLoopResult | None


def measure(run: GrowthRun) -> Section:
    built = generated_corpus.built()
    draws = iter(asking.by_zipf(_ASKED, _DRAWS, _SEED))
    by_writers: dict[int, _WritersRun] = {}
    with (
        service.nearhit() as gateway,
        new_tenant(gateway, "bench") as tenant,
        run.console.status("writing"),
    ):
        tenant.put(built.documents, lambda _: None)
        ask = caller.of(gateway, "bench")
        searches = (ask(built.questions[number]) for number in draws)
        probe.warm(gateway, searches, _ASKED)
        edits = _edits(gateway, tenant)
        for count in run.options.writers:
            by_writers[count] = uvloop.run(
                _driven(gateway, searches, edits, count, run.options.seconds)
            )
    return Section(
        title="Writers",
        text=_text(run, by_writers),
        figures={str(count): _figures(result) for count, result in by_writers.items()},
        bars=[],
    )


async def _driven(
    gateway: Service,
    searches: Iterator[bytes],
    edits: Iterator[bytes],
    writers: int,
    seconds: float,
) -> _WritersRun:
    meter = Meter(gateway)
    searching = closed_loop.run(gateway.url, searches, connections=_CONNECTIONS, seconds=seconds)
    if not writers:
        outcome = await searching
        return _WritersRun(meter.read(outcome, outcome.count), None)
    writing = closed_loop.run(gateway.url, edits, connections=writers, seconds=seconds)
    outcome, writes = await asyncio.gather(searching, writing)
    answered = outcome.count + writes.count
    return _WritersRun(meter.read(outcome, answered), writes)


def _edits(gateway: Service, tenant: TenantClient) -> Iterator[bytes]:
    """Endless requests, each of which replaces one sentence of a random document."""
    random = Random(_SEED)  # noqa: S311  no secret
    built = generated_corpus.built()
    texts = {number: document["text"] for number, document in enumerate(built.documents)}
    while True:
        number = random.randrange(len(texts))
        texts[number] = topics.edited(texts[number], built.topics[number], random)
        body = {"text": texts[number], "language": "en", "readers": ["tenant"]}
        url = f"{gateway.url}/v1/documents/document-{number}"
        yield encode_request("PUT", url, tenant.key, orjson.dumps(body))


def _text(run: GrowthRun, by_writers: dict[int, _WritersRun]) -> str:
    costs = [result.searches for result in by_writers.values()]
    picture = plot.lines(
        run.pictures / "growth-writers.svg",
        list(by_writers),
        {
            "ms": {
                "search, P50": [cost.p50_ms for cost in costs],
                "search, P99": [cost.p99_ms for cost in costs],
            },
            "per second": {
                "searches": [cost.per_second for cost in costs],
                "writes": [
                    0.0 if result.writes is None else result.writes.per_second
                    for result in by_writers.values()
                ],
            },
        },
        xlabel="writers",
        log=False,
    )
    notes = (
        f"{_CONNECTIONS} connections search a tenant in a closed loop: "
        f"{len(generated_corpus.built().documents):,} documents, {_ASKED:,} questions by Zipf's "
        "law. So many other connections each edit a sentence of one document after the other, as "
        "soon as the last edit is acknowledged. The processor time is that of searches and writes "
        "together, divided by their number."
    )
    rows = [
        (str(count), *result.searches.row(), *_writes(result))
        for count, result in by_writers.items()
    ]
    head = ("writers", *probe.HEAD, "writes/s", "write P50 ms", "write P99 ms")
    return f"{notes}\n\n{table(head, rows)}\n\n{picture}"


def _writes(result: _WritersRun) -> Sequence[str]:
    if result.writes is None:
        return "", "", ""
    p50_ms, p99_ms = (result.writes.percentile_ms(percentile) for percentile in (50, 99))
    return f"{result.writes.per_second:,.0f}", f"{p50_ms:.1f}", f"{p99_ms:.1f}"


def _figures(result: _WritersRun) -> dict[str, float]:
    figures = result.searches.as_json()
    if result.writes is not None:
        figures["writes_per_second"] = result.writes.per_second
        figures["write_p50_ms"] = result.writes.percentile_ms(50)
        figures["write_p99_ms"] = result.writes.percentile_ms(99)
    return figures
