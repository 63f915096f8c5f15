"""Searches while other connections write to the same tenant in a closed loop."""

import asyncio
from collections.abc import Iterator
from random import Random

import orjson
import uvloop

from loadtests.bench.frame import Run
from loadtests.bench.section import Section, rows_section
from loadtests.bench_cache import questions as asking
from loadtests.bench_growth import generated_corpus, probe
from loadtests.bench_growth.probe import Probe, RequestCost
from loadtests.load import closed_loop
from loadtests.load.request import encode_request
from loadtests.servers import service
from loadtests.servers.processes import Meter
from loadtests.servers.service import Service
from loadtests.workload import topics
from loadtests.workload.tenant_client import TenantClient, new_tenant

_CONNECTIONS = 8  # that search
_ASKED = 2_000  # questions, by Zipf's law
_DRAWS = 200_000
_SEED = 29
_COLUMNS = {
    "writes_per_second": ("writes/s", ",.0f"),
    "write_p50_ms": ("write P50 ms", ".1f"),
    "write_p99_ms": ("write P99 ms", ".1f"),
}


def measure(run: Run) -> Section:
    built = generated_corpus.built()
    draws = iter(asking.by_zipf(_ASKED, _DRAWS, _SEED))
    rows: dict[str, RequestCost] = {}
    with (
        service.nearhit() as gateway,
        new_tenant(gateway, "bench") as tenant,
        run.console.status("writing"),
    ):
        tenant.put(built.documents)
        ask = probe.asking(gateway, "bench")
        searches = (ask(built.questions[number]) for number in draws)
        probe.warm(Probe(gateway, searches), _ASKED)
        edits = _edits(gateway, tenant)
        for count in run.sizes(0, 1, 2, 4, 8, quick=(0, 2)):
            driving = _driven(gateway, searches, edits, count, probe.seconds(run))
            rows[str(count)] = uvloop.run(driving)
    notes = (
        f"{_CONNECTIONS} connections search a tenant in a closed loop: "
        f"{len(built.documents):,} documents, {_ASKED:,} questions by Zipf's "
        "law. So many other connections each edit a sentence of one document after the other, as "
        "soon as the last edit is acknowledged. The processor time is that of searches and writes "
        "together, divided by their number."
    )
    return rows_section("Writers", notes, "writers", rows, {**probe.COLUMNS, **_COLUMNS})


async def _driven(
    gateway: Service,
    searches: Iterator[bytes],
    edits: Iterator[bytes],
    writers: int,
    seconds: float,
) -> RequestCost:
    """The cost of searches; processor time is divided by searches and writes together."""
    meter = Meter(*probe.servers(gateway))
    searching = closed_loop.run(gateway.url, searches, connections=_CONNECTIONS, seconds=seconds)
    if not writers:
        with meter:
            outcome = await searching
        return probe.cost(gateway, outcome, meter.spent_s)
    writing = closed_loop.run(gateway.url, edits, connections=writers, seconds=seconds)
    with meter:
        outcome, writes = await asyncio.gather(searching, writing)
    return {
        **probe.cost(gateway, outcome, meter.spent_s, writes.count),
        "writes_per_second": writes.per_second,
        "write_p50_ms": writes.percentile_ms(50),
        "write_p99_ms": writes.percentile_ms(99),
    }


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
