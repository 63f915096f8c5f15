"""How long a change takes to invalidate the answers that it affects, among ten thousand."""

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from statistics import fmean, median

import numpy as np
import orjson
from rich.progress import Progress

from loadtests.bench.section import Bar, Section, rows_section
from loadtests.bench_cache.options import PATIENT, CacheRun
from loadtests.servers import metrics, processes, service
from loadtests.servers.service import Service
from loadtests.workload import topics
from loadtests.workload.tenant_client import TenantClient, connected, new_tenant
from loadtests.workload.topics import TopicWorld

_DOCUMENTS = 5_000
_LIVE = 10_000
_EDITS = 100
_ASKED_ALL = 20  # edits until all questions are asked again
_COLD = 5  # gateways that are started for their first drain
_SEED = 13
_DRAIN_MS_MAX = 20.0
_SETTINGS = PATIENT | {"NEARHIT_REDIS_ENTRIES_MAX": str(2 * _LIVE)}  # room for all of them
_TIMED = {  # as the page names them
    "warm_drain_ms": f"warm drain, {_LIVE:,} answers",
    "empty_drain_ms": "warm drain, 1 answer",
    "cold_drain_ms": f"cold drain, {_LIVE:,} answers",
    "put_ms": f"the whole PUT, {_LIVE:,} answers",
    "empty_put_ms": "the whole PUT, 1 answer",
}
_COLUMNS = {"median": ("median", ".1f"), "p95": ("P95", ".1f"), "most": ("most", ".1f")}


def measure(run: CacheRun) -> Section:
    made_up = topics.build(_DOCUMENTS, _LIVE, _SEED)
    bodies = [orjson.dumps({"query": question}) for question in made_up.questions]
    with ExitStack() as stack:
        gateway = stack.enter_context(service.nearhit(_SETTINGS))
        full = stack.enter_context(new_tenant(gateway, "full"))
        empty = stack.enter_context(new_tenant(gateway, "empty"))
        progress = stack.enter_context(run.progress())
        _fill(full, empty, made_up, bodies, run)
        edits = topics.edits(made_up, _SEED)
        taken = _edited(gateway, full, empty, edits, bodies, run, progress)
        live = metrics.cache_event(gateway.url, "stored") - 1
        live -= metrics.cache_event(gateway.url, "dropped")
        away = metrics.cache_event(gateway.url, "unavailable")
        for _ in progress.track(range(_COLD), description="starting gateways"):
            with (
                service.beside(gateway, _SETTINGS) as other,
                connected(other.url, full.key) as tenant,
            ):
                tenant.edit_first(next(edits))
                taken["cold_drain_ms"].append(_drained_ms(other))
    rows = {
        what: {
            "median": median(taken[name]),
            "p95": float(np.quantile(taken[name], 0.95)),
            "most": max(taken[name]),
        }
        for name, what in _TIMED.items()
    }
    bar = Bar(
        f"ms of a warm drain of one change among {_LIVE:,} answers, median",
        median(taken["warm_drain_ms"]),
        at_most=_DRAIN_MS_MAX,
    )
    notes = _notes(taken, live, away)
    return rows_section("Invalidation", notes, "ms", rows, _COLUMNS, [bar], live=live, away=away)


def _fill(
    full: TenantClient,
    empty: TenantClient,
    made_up: TopicWorld,
    bodies: Sequence[bytes],
    run: CacheRun,
) -> None:
    """Write the same documents to both tenants and ask all questions in one of them."""
    for tenant in (full, empty):
        tenant.put(made_up.documents)
    empty.search_all(bodies[:1], connections=1)  # so that the tenant has a state in Redis
    full.search_all(bodies, connections=run.options.connections)


def _edited(
    gateway: Service,
    full: TenantClient,
    empty: TenantClient,
    edits: Iterator[str],
    bodies: Sequence[bytes],
    run: CacheRun,
    progress: Progress,
) -> dict[str, list[float]]:
    """What each edit took, by figure."""
    taken: dict[str, list[float]] = defaultdict(list)

    def put(tenant: TenantClient, text: str, prefix: str) -> float:
        """How many answers it dropped."""
        drained_ms = _drained_ms(gateway)
        dropped = metrics.cache_event(gateway.url, "dropped")
        before_s, started_s = processes.processor_s(gateway.pid), time.perf_counter()
        tenant.edit_first(text)
        taken[f"{prefix}put_ms"].append((time.perf_counter() - started_s) * 1000)
        # In steps of ten milliseconds, so only means are meaningful.
        spent_s = processes.processor_s(gateway.pid) - before_s
        taken[f"{prefix}put_processor_ms"].append(spent_s * 1000)
        taken[f"{prefix or 'warm_'}drain_ms"].append(_drained_ms(gateway) - drained_ms)
        return metrics.cache_event(gateway.url, "dropped") - dropped

    full.edit_first(next(edits))
    # Questions whose answers an edit of this document drops: asked again after each edit.
    again = full.search_all(bodies, connections=run.options.connections)
    touchy = [body for body, answer in zip(bodies, again, strict=True) if not answer.is_hit]
    for number in progress.track(range(1, _EDITS + 1), description="editing"):
        text = next(edits)
        put(empty, text, "empty_")
        taken["dropped"].append(put(full, text, ""))
        asked_again = touchy if number % _ASKED_ALL else bodies
        full.search_all(asked_again, connections=run.options.connections)
    return taken


def _drained_ms(gateway: Service) -> float:
    """The time of all drains of the gateway so far."""
    return metrics.read(gateway.url, "nearhit_cache_drain_duration_seconds_sum") * 1000


def _notes(taken: Mapping[str, Sequence[float]], live: float, away: float) -> str:
    return (
        f"Two tenants of one gateway have the same {_DOCUMENTS:,} documents of one chunk each; one "
        f"tenant has {live:,.0f} live answers, to as many different questions, the other has "
        "one.\n"
        f"One document is edited {_EDITS} times over HTTP, in both tenants in turn; each edit "
        "replaces a sentence and so its chunk. Then the answers that it may have dropped are "
        "computed again.\n"
        f"An edit dropped {median(taken['dropped']):,.0f} answers (median; at most "
        f"{max(taken['dropped']):,.0f}).\n"
        "The gateway times a drain (`nearhit_cache_drain_duration_seconds`): reading the change "
        "from PostgreSQL, three or more steps in Redis, finding the affected answers.\n"
        "Warm is a gateway that has drained before and knows all answers but the newest; cold is "
        f"the first drain of a new process, which reads all records, of {_COLD} processes.\n"
        f"A PUT took {fmean(taken['put_processor_ms']):.1f} ms of the worker's processor with "
        f"{_LIVE:,} answers, and {fmean(taken['empty_put_processor_ms']):.1f} ms with one "
        f"(means).\nRedis was unavailable {away:.0f} times."
    )
