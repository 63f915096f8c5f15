"""The cost of repeated questions and of edits among the live answers of one tenant."""

import time
from itertools import cycle, islice
from statistics import median

import uvloop

from loadtests.bench.section import Section, rows_section
from loadtests.bench_growth import generated_corpus, probe
from loadtests.bench_growth.options import GrowthRun
from loadtests.bench_growth.probe import Probe, RequestCost
from loadtests.load import closed_loop
from loadtests.servers import metrics, service
from loadtests.servers.service import Service
from loadtests.workload import topics
from loadtests.workload.tenant_client import TenantClient, new_tenant

_EDITS = 20
_CONNECTIONS = 8
_STRETCH = 1_000  # requests at a time
_REPEATED_MAX = 1_000  # questions that are repeated, in turns
_DRAINS = "nearhit_cache_drain_duration_seconds_sum"
_COLUMNS = {
    "drain_ms": ("drain ms", ".1f"),
    "put_ms": ("PUT ms", ".1f"),
    "dropped": ("dropped an edit", ".1f"),
}


def measure(run: GrowthRun) -> Section:
    settings = {"NEARHIT_REDIS_ENTRIES_MAX": str(2 * max(run.options.entries))}
    built, questions = generated_corpus.built(), generated_corpus.questions()
    rows: dict[str, RequestCost] = {}
    with (
        service.nearhit(settings) as gateway,
        new_tenant(gateway, "bench") as tenant,
        run.console.status("writing") as status,
    ):
        tenant.put(built.documents)
        ask, edits = probe.asking(gateway, "bench"), topics.edits(built, generated_corpus.SEED)
        live = 0
        for count in run.options.entries:
            status.update(f"{count:,} entries")
            while live < count:
                some = list(islice(questions, min(_STRETCH, count - live)))
                requests = [ask(question) for question in some]
                uvloop.run(closed_loop.send_all(gateway.url, requests, connections=_CONNECTIONS))
                live += len(some)
            repeats = [ask(question) for question in some[-_REPEATED_MAX:]]
            probes = {"": Probe(gateway, cycle(repeats))}
            cost = probe.take(probes, seconds=run.options.seconds)[""]
            tenant.edit_first(next(edits))  # its drain reads the records stored since the last one
            edited = _edited(gateway, tenant, list(islice(edits, _EDITS)))
            rows[f"{count:,}"] = {**cost, **edited}
    notes = (
        f"One tenant with {len(built.documents):,} documents and so many live "
        "answers, to as many different questions of one caller. One connection repeats the newest "
        f"of them, at most {_REPEATED_MAX:,}, in turn. Then one document is edited {_EDITS} times; "
        "the drain is timed within the gateway, and dropped answers are not computed again."
    )
    columns = {**probe.COLUMNS, **_COLUMNS}
    return rows_section("Live entries", notes, "live answers", rows, columns)


def _edited(gateway: Service, tenant: TenantClient, edits: list[str]) -> RequestCost:
    """drain_ms, put_ms: medians. dropped: answers, the mean."""
    dropped = metrics.cache_event(gateway.url, "dropped")
    drains_ms, puts_ms = [], []
    for text in edits:
        before_s, started_s = metrics.read(gateway.url, _DRAINS), time.perf_counter()
        tenant.edit_first(text)
        puts_ms.append((time.perf_counter() - started_s) * 1000)
        drains_ms.append((metrics.read(gateway.url, _DRAINS) - before_s) * 1000)
    dropped = metrics.cache_event(gateway.url, "dropped") - dropped
    return {
        "drain_ms": median(drains_ms),
        "put_ms": median(puts_ms),
        "dropped": dropped / len(edits),
    }
