"""The cost of requests as tenants, live answers and writers become more."""

import asyncio
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from random import Random
from statistics import fmean, median
from typing import NamedTuple

import numpy as np
import orjson
import uvloop

from loadtests.bench.frame import PATIENT, Run
from loadtests.bench.section import Bar, Section, rows_section
from loadtests.load import closed_loop
from loadtests.load.request import encode_request
from loadtests.load.response import HttpResponse
from loadtests.scenarios import probe
from loadtests.scenarios.probe import Probe, RequestCost
from loadtests.servers import metrics, service
from loadtests.servers.processes import Meter
from loadtests.servers.service import Service
from loadtests.workload import topics
from loadtests.workload.questions import zipf
from loadtests.workload.tenant_client import TenantClient, connected, new_tenant

_CHUNKS = 20  # of each tenant
_ASKING_MAX = 500  # tenants that get questions, a random sample
_SEED = 23
_CONNECTIONS = 8  # that search
_REPEATED_MAX = 1_000  # live answers that are repeated, in turns
_EDITS = 20
_COLD = 5  # gateways that are started for their first drain, where the bar is
_DRAIN_ANSWERS, _DRAIN_MS_MAX = 10_000, 20.0
_DRAINS_S = "nearhit_cache_drain_duration_seconds_sum"
_ENTRIES_COLUMNS = {
    "drain_ms": ("drain ms", ".1f"),
    "drain_p95_ms": ("P95", ".1f"),
    "cold_ms": ("cold drain ms", ".1f"),
    "put_ms": ("PUT ms", ".1f"),
    "put_gateway_ms": ("the gateway's", ".1f"),
    "dropped": ("dropped an edit", ".1f"),
}
_ASKED = 2_000  # questions beside writers, by Zipf's law
_WRITERS_COLUMNS = {
    "writes_per_second": ("writes/s", ",.0f"),
    "write_p50_ms": ("write P50 ms", ".1f"),
    "write_p99_ms": ("write P99 ms", ".1f"),
}


def measure_tenants(run: Run) -> Section:
    """New and repeated questions in growing numbers of tenants of the same size."""
    rows: dict[str, dict[str, RequestCost]] = {"new": {}, "repeated": {}}
    questions, seconds = probe.questions(), probe.seconds(run)
    with service.nearhit() as gateway, run.console.status("filling") as status:
        filled = 0
        for count in run.sizes(1, 10, 100, 1_000, 10_000, quick=(1, 10, 100)):
            status.update(f"{count:,} tenants")
            probe.fill(gateway, {f"tenant-{number}": _CHUNKS for number in range(filled, count)})
            filled = count
            random = Random(_SEED)  # noqa: S311  no secret
            drawn = random.sample(range(count), min(count, _ASKING_MAX))
            asking = [probe.asking(gateway, f"tenant-{number}") for number in drawn]
            new = (ask(question) for ask, question in zip(cycle(asking), questions, strict=False))
            repeated = cycle([ask(probe.built().questions[0]) for ask in asking])
            for name, requests in (("new", new), ("repeated", repeated)):
                asked = Probe(gateway, requests)
                probe.warm(asked, len(asking))
                rows[name][f"{count:,}, {name}"] = probe.take({"": asked}, seconds=seconds)[""]
    notes = (
        f"So many tenants of {_CHUNKS} chunks each. One connection asks in {_ASKING_MAX} of them "
        "at most, in turn, with one key per tenant: new questions, and one question repeated."
    )
    return rows_section(
        "Tenants", notes, "tenants", {**rows["new"], **rows["repeated"]}, probe.COLUMNS
    )


class _EditCost(NamedTuple):
    """put_ms: of the request. drain_ms: as the gateway times it. dropped: answers.

    processor_ms: of the gateway, in steps of ten milliseconds, so only means are meaningful.
    """

    put_ms: float
    drain_ms: float
    processor_ms: float
    dropped: float


def measure_entries(run: Run) -> Section:
    """The cost of repeated questions and of edits among the live answers of one tenant."""
    counts = run.sizes(1, 100, 1_000, 10_000, 100_000, quick=(1, 100, 1_000))
    settings = {**PATIENT, "NEARHIT_REDIS_ENTRIES_MAX": str(2 * max(counts))}  # room for all
    built, questions = probe.built(), probe.questions()
    rows: dict[str, dict[str, float]] = {}
    with (
        service.nearhit(settings) as gateway,
        new_tenant(gateway, "bench") as tenant,
        run.console.status("writing") as status,
    ):
        tenant.put(built.documents)
        ask, edits = probe.asking(gateway, "bench"), topics.edits(built, probe.SEED)
        asked: list[bytes] = []
        for count in counts:
            status.update(f"{count:,} entries")
            new = [ask(question) for question in islice(questions, count - len(asked))]
            _send(gateway, new)
            asked += new
            repeated = Probe(gateway, cycle(asked[-_REPEATED_MAX:]))
            cost = probe.take({"": repeated}, seconds=probe.seconds(run))[""]
            tenant.edit_first(next(edits))  # its drain reads the records stored since the last one
            # Whose answers an edit of this document drops: asked again after each edit.
            answers = zip(asked, _send(gateway, asked), strict=True)
            touched = [request for request, answer in answers if not answer.is_hit]
            edited = []
            for text in islice(edits, _EDITS):
                edited.append(_edit(gateway, tenant, text))
                _send(gateway, touched)
            drains_ms = [one.drain_ms for one in edited]
            rows[f"{count:,}"] = {
                **cost,
                "drain_ms": median(drains_ms),
                "drain_p95_ms": float(np.quantile(drains_ms, 0.95)),
                "put_ms": median(one.put_ms for one in edited),
                "put_gateway_ms": fmean(one.processor_ms for one in edited),
                "dropped": fmean(one.dropped for one in edited),
            }
            if count == _DRAIN_ANSWERS:
                cold_ms = [_cold_drain_ms(gateway, tenant, next(edits)) for _ in range(_COLD)]
                rows[f"{count:,}"] |= {"cold_ms": median(cold_ms)}
    notes = (
        f"One tenant with {len(built.documents):,} documents of one chunk and so many live "
        "answers, to as many different questions of one caller. One connection repeats the newest "
        f"of them, at most {_REPEATED_MAX:,}, in turn. Then one document is edited {_EDITS} times "
        "over HTTP; each edit replaces a sentence and so its chunk. The gateway times a drain "
        "(`nearhit_cache_drain_duration_seconds`): reading the change from PostgreSQL, three or "
        "more steps in Redis, finding the affected answers. What it drops is asked again. Cold is "
        f"the first drain of a new process, which reads all records: the median of {_COLD}."
    )
    bars = [
        Bar(f"ms of a drain among {count} answers, median", row["drain_ms"], at_most=_DRAIN_MS_MAX)
        for count, row in rows.items()
        if count == f"{_DRAIN_ANSWERS:,}"
    ]
    columns = {**probe.COLUMNS, **_ENTRIES_COLUMNS}
    return rows_section("Live entries", notes, "live answers", rows, columns, bars)


def _send(gateway: Service, requests: Sequence[bytes]) -> Sequence[HttpResponse]:
    return uvloop.run(closed_loop.send_all(gateway.url, requests, connections=_CONNECTIONS))


def _edit(gateway: Service, tenant: TenantClient, text: str) -> _EditCost:
    """One edit of the tenant's first document, and what it takes of its gateway."""
    drained_s = metrics.read(gateway.url, _DRAINS_S)
    dropped = metrics.cache_event(gateway.url, "dropped")
    with Meter(lambda: (gateway.pid,)) as meter:
        put_ms = tenant.edit_first(text) * 1000
    return _EditCost(
        put_ms=put_ms,
        drain_ms=(metrics.read(gateway.url, _DRAINS_S) - drained_s) * 1000,
        processor_ms=meter.spent_s[0] * 1000,
        dropped=metrics.cache_event(gateway.url, "dropped") - dropped,
    )


def _cold_drain_ms(gateway: Service, tenant: TenantClient, text: str) -> float:
    with service.beside(gateway, PATIENT) as other, connected(other.url, tenant.key) as writer:
        return _edit(other, writer, text).drain_ms


def measure_writers(run: Run) -> Section:
    """Searches while other connections write to the same tenant in a closed loop."""
    built = probe.built()
    random = Random(_SEED)  # noqa: S311  no secret
    rows: dict[str, RequestCost] = {}
    with (
        service.nearhit() as gateway,
        new_tenant(gateway, "bench") as tenant,
        run.console.status("writing"),
    ):
        tenant.put(built.documents)
        ask = probe.asking(gateway, "bench")
        searches = (ask(built.questions[zipf(_ASKED, random)]) for _ in iter(int, 1))
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
    columns = {**probe.COLUMNS, **_WRITERS_COLUMNS}
    return rows_section("Writers", notes, "writers", rows, columns)


async def _driven(
    gateway: Service,
    searches: Iterator[bytes],
    edits: Iterator[bytes],
    writers: int,
    seconds: float,
) -> RequestCost:
    """The cost of searches; processor time is divided by searches and writes together."""
    loops = [closed_loop.run(gateway.url, searches, connections=_CONNECTIONS, seconds=seconds)]
    if writers:
        loops.append(closed_loop.run(gateway.url, edits, connections=writers, seconds=seconds))
    with Meter(*probe.servers(gateway)) as meter:
        outcome, *written = await asyncio.gather(*loops)
    cost = probe.cost(gateway, outcome, meter.spent_s, sum(writes.count for writes in written))
    for writes in written:
        cost = {
            **cost,
            "writes_per_second": writes.per_second,
            "write_p50_ms": writes.percentile_ms(50),
            "write_p99_ms": writes.percentile_ms(99),
        }
    return cost


def _edits(gateway: Service, tenant: TenantClient) -> Iterator[bytes]:
    """Endless requests, each of which replaces one sentence of a random document."""
    random = Random(_SEED)  # noqa: S311  no secret
    built = probe.built()
    texts = {number: document["text"] for number, document in enumerate(built.documents)}
    while True:
        number = random.randrange(len(texts))
        texts[number] = topics.edited(texts[number], built.topics[number], random)
        body = {"text": texts[number], "language": "en", "readers": ["tenant"]}
        url = f"{gateway.url}/v1/documents/document-{number}"
        yield encode_request("PUT", url, tenant.key, orjson.dumps(body))
