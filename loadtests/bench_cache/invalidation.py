"""How long a change takes to invalidate the answers that it affects, among ten thousand."""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import fmean, median

import numpy as np
import orjson
from rich.progress import Progress

from loadtests.bench.section import Bar, Section, table
from loadtests.bench_cache.options import PATIENT, CacheRun
from loadtests.servers import metrics, service
from loadtests.servers.service import Service
from loadtests.workload import topics
from loadtests.workload.tenant_client import TenantClient, new_tenant, through
from loadtests.workload.topics import TopicWorld

_DOCUMENTS = 5_000
_LIVE = 10_000
_EDITS = 100
_ASKED_ALL = 20  # edits until all questions are asked again
_STRETCH = 500  # questions between two updates of the progress bar
_COLD = 5  # gateways that are started for their first drain
_SEED = 13
_DRAIN_MS_MAX = 20.0
_SETTINGS = PATIENT | {"NEARHIT_REDIS_ENTRIES_MAX": str(2 * _LIVE)}  # room for all of them


@dataclass(frozen=True, slots=True)
class TimedPut:
    """The time until an edit was acknowledged, and the processor time of the worker.

    The system counts processor time in steps of ten milliseconds, so only means are meaningful.
    """

    took_ms: float
    processor_ms: float


@dataclass(slots=True)
class DrainTimes:
    """Milliseconds by edit. dropped: answers, by edit. live: answers after the last edit."""

    warm_ms: list[float] = field(default_factory=list)
    cold_ms: list[float] = field(default_factory=list)
    puts: list[TimedPut] = field(default_factory=list)
    empty_puts: list[TimedPut] = field(default_factory=list)
    empty_drain_ms: list[float] = field(default_factory=list)
    dropped: list[float] = field(default_factory=list)
    live: float = 0.0
    away: float = 0.0


def measure(run: CacheRun) -> Section:
    made_up = topics.build(_DOCUMENTS, _LIVE, _SEED)
    bodies = [orjson.dumps({"query": question}) for question in made_up.questions]
    with ExitStack() as stack:
        gateway = stack.enter_context(service.nearhit(_SETTINGS))
        full = stack.enter_context(new_tenant(gateway, "full"))
        empty = stack.enter_context(new_tenant(gateway, "empty"))
        progress = stack.enter_context(run.progress())
        _fill(full, empty, made_up, bodies, run, progress)
        timed = _timed(gateway, full, empty, made_up, bodies, run, progress)
    return Section(
        title="Invalidation",
        text=_text(timed),
        figures=_figures(timed),
        bars=[
            Bar(
                f"ms of a warm drain of one change among {_LIVE:,} answers, median",
                median(timed.warm_ms),
                at_most=_DRAIN_MS_MAX,
            )
        ],
    )


def _fill(
    full: TenantClient,
    empty: TenantClient,
    made_up: TopicWorld,
    bodies: Sequence[bytes],
    run: CacheRun,
    progress: Progress,
) -> None:
    """Write the same documents to both tenants and ask all questions in one of them."""
    task = progress.add_task("writing documents", total=2 * len(made_up.documents))
    for tenant in (full, empty):
        tenant.put(made_up.documents, lambda count: progress.advance(task, count))
    empty.search_all(bodies[:1], connections=1)  # so that the tenant has a state in Redis
    task = progress.add_task("asking", total=len(bodies))
    for start in range(0, len(bodies), _STRETCH):
        full.search_all(bodies[start : start + _STRETCH], connections=run.options.connections)
        progress.advance(task, _STRETCH)


def _timed(
    gateway: Service,
    full: TenantClient,
    empty: TenantClient,
    made_up: TopicWorld,
    bodies: Sequence[bytes],
    run: CacheRun,
    progress: Progress,
) -> DrainTimes:
    timed = DrainTimes()
    edits = topics.edits(made_up, _SEED)
    _put(full, next(edits), gateway)
    # Questions whose answers an edit of this document drops: asked again after each edit.
    again = full.search_all(bodies, connections=run.options.connections)
    touchy = [body for body, answer in zip(bodies, again, strict=True) if not answer.is_hit]
    for number in progress.track(range(1, _EDITS + 1), description="editing"):
        text = next(edits)
        before = _Counts.now(gateway)
        timed.empty_puts.append(_put(empty, text, gateway))
        between = _Counts.now(gateway)
        timed.puts.append(_put(full, text, gateway))
        after = _Counts.now(gateway)
        timed.empty_drain_ms.append(between.drained_ms - before.drained_ms)
        timed.warm_ms.append(after.drained_ms - between.drained_ms)
        timed.dropped.append(after.dropped - between.dropped)
        asked_again = touchy if number % _ASKED_ALL else bodies
        full.search_all(asked_again, connections=run.options.connections)
    after = _Counts.now(gateway)
    timed.live, timed.away = after.stored - after.dropped - 1, after.away
    for _ in progress.track(range(_COLD), description="starting gateways"):
        with service.beside(gateway, _SETTINGS) as other, through(full, other) as tenant:
            _put(tenant, next(edits), other)
            timed.cold_ms.append(_Counts.now(other).drained_ms)
    return timed


def _put(tenant: TenantClient, text: str, by: Service) -> TimedPut:
    before_s, started_s = service.processor_s(by.pid), time.perf_counter()
    tenant.edit_first(text)
    took_s = time.perf_counter() - started_s
    return TimedPut(took_s * 1000, (service.processor_s(by.pid) - before_s) * 1000)


@dataclass(frozen=True, slots=True)
class _Counts:
    drained_ms: float
    dropped: float
    stored: float
    away: float

    @classmethod
    def now(cls, gateway: Service) -> "_Counts":
        return cls(
            metrics.read(gateway.url, "nearhit_cache_drain_duration_seconds_sum") * 1000,
            metrics.cache_event(gateway.url, "dropped"),
            metrics.cache_event(gateway.url, "stored"),
            metrics.cache_event(gateway.url, "unavailable"),
        )


def _text(timed: DrainTimes) -> str:
    notes = (
        f"Two tenants of one gateway have the same {_DOCUMENTS:,} documents of one chunk each; one "
        f"tenant has {timed.live:,.0f} live answers, to as many different questions, the other has "
        "one.\n"
        f"One document is edited {_EDITS} times over HTTP, in both tenants in turn; each edit "
        "replaces a sentence and so its chunk. Then the answers that it may have dropped are "
        "computed again.\n"
        f"An edit dropped {median(timed.dropped):,.0f} answers (median; at most "
        f"{max(timed.dropped):,.0f}).\n"
        "The gateway times a drain (`nearhit_cache_drain_duration_seconds`): reading the change "
        "from PostgreSQL, three or more steps in Redis, finding the affected answers.\n"
        "Warm is a gateway that has drained before and knows all answers but the newest; cold is "
        f"the first drain of a new process, which reads all records, of {_COLD} processes.\n"
        f"A PUT took {_processor_ms(timed.puts):.1f} ms of the worker's processor with {_LIVE:,} "
        f"answers, and {_processor_ms(timed.empty_puts):.1f} ms with one (means).\n"
        f"Redis was unavailable {timed.away:.0f} times."
    )
    rows = [
        _row(f"warm drain, {_LIVE:,} answers", timed.warm_ms),
        _row("warm drain, 1 answer", timed.empty_drain_ms),
        _row(f"cold drain, {_LIVE:,} answers", timed.cold_ms),
        _row(f"the whole PUT, {_LIVE:,} answers", [put.took_ms for put in timed.puts]),
        _row("the whole PUT, 1 answer", [put.took_ms for put in timed.empty_puts]),
    ]
    return f"{notes}\n\n{table(('ms', 'median', 'P95', 'most'), rows)}"


def _processor_ms(puts: Sequence[TimedPut]) -> float:
    return fmean(put.processor_ms for put in puts)


def _row(what: str, took_ms: Sequence[float]) -> tuple[str, str, str, str]:
    p95 = float(np.quantile(took_ms, 0.95))
    return what, f"{median(took_ms):.1f}", f"{p95:.1f}", f"{max(took_ms):.1f}"


def _figures(timed: DrainTimes) -> dict[str, object]:
    return {
        "live": timed.live,
        "away": timed.away,
        "put_processor_ms": _processor_ms(timed.puts),
        "empty_put_processor_ms": _processor_ms(timed.empty_puts),
        "dropped_median": median(timed.dropped),
        **{
            name: {"median": median(took_ms), "p95": float(np.quantile(took_ms, 0.95))}
            for name, took_ms in (
                ("warm_drain_ms", timed.warm_ms),
                ("cold_drain_ms", timed.cold_ms),
                ("empty_drain_ms", timed.empty_drain_ms),
                ("put_ms", [put.took_ms for put in timed.puts]),
                ("empty_put_ms", [put.took_ms for put in timed.empty_puts]),
            )
        },
    }
