"""How long a change takes to invalidate the answers that it affects, among ten thousand."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import fmean, median

import numpy as np
import orjson
from rich.progress import Progress

from loadtests.bench import edit_cost
from loadtests.bench.edit_cost import EditCost
from loadtests.bench.frame import PATIENT, Run
from loadtests.bench.section import Bar, Section, rows_section
from loadtests.servers import metrics, service
from loadtests.servers.service import Service
from loadtests.workload import topics
from loadtests.workload.tenant_client import TenantClient, connected, new_tenant

_CONNECTIONS = 16  # that ask
_DOCUMENTS = 5_000
_LIVE = 10_000
_EDITS = 100
_ASKED_ALL = 20  # edits until all questions are asked again
_COLD = 5  # gateways that are started for their first drain
_SEED = 13
_DRAIN_MS_MAX = 20.0
_SETTINGS = {**PATIENT, "NEARHIT_REDIS_ENTRIES_MAX": str(2 * _LIVE)}  # room for all of them
_COLUMNS = {"median": ("median", ".1f"), "p95": ("P95", ".1f"), "most": ("most", ".1f")}


@dataclass(frozen=True, slots=True)
class _Edited:
    """The edits in the tenant with all answers, and in the one with a single answer.

    cold: the first edits of new gateways.
    """

    full: list[EditCost] = field(default_factory=list)
    single: list[EditCost] = field(default_factory=list)
    cold: list[EditCost] = field(default_factory=list)


def measure(run: Run) -> Section:
    made_up = topics.build(_DOCUMENTS, _LIVE, _SEED)
    bodies = [orjson.dumps({"query": question}) for question in made_up.questions]
    edited, edits = _Edited(), topics.edits(made_up, _SEED)
    with ExitStack() as stack:
        gateway = stack.enter_context(service.nearhit(_SETTINGS))
        full, single = (
            stack.enter_context(new_tenant(gateway, name)) for name in ("full", "empty")
        )
        progress = stack.enter_context(run.progress())
        for tenant in (full, single):
            tenant.put(made_up.documents)
        single.search_all(bodies[:1], connections=1)  # so that the tenant has a state in Redis
        full.search_all(bodies, connections=_CONNECTIONS)
        _edit(gateway, full, single, edits, bodies, edited, progress)
        live = metrics.cache_event(gateway.url, "stored") - 1
        live -= metrics.cache_event(gateway.url, "dropped")
        away = metrics.cache_event(gateway.url, "unavailable")
        for _ in progress.track(range(_COLD), description="starting gateways"):
            with (
                service.beside(gateway, _SETTINGS) as other,
                connected(other.url, full.key) as tenant,
            ):
                edited.cold.append(edit_cost.edit(other, tenant, next(edits)))
    drains_ms = [cost.drain_ms for cost in edited.full]
    timed = {
        f"warm drain, {_LIVE:,} answers": drains_ms,
        "warm drain, 1 answer": [cost.drain_ms for cost in edited.single],
        f"cold drain, {_LIVE:,} answers": [cost.drain_ms for cost in edited.cold],
        f"the whole PUT, {_LIVE:,} answers": [cost.put_ms for cost in edited.full],
        "the whole PUT, 1 answer": [cost.put_ms for cost in edited.single],
    }
    rows = {
        what: {"median": median(ms), "p95": float(np.quantile(ms, 0.95)), "most": max(ms)}
        for what, ms in timed.items()
    }
    what = f"ms of a warm drain of one change among {_LIVE:,} answers, median"
    bar = Bar(what, median(drains_ms), at_most=_DRAIN_MS_MAX)
    notes = _notes(edited, live, away)
    return rows_section("Invalidation", notes, "ms", rows, _COLUMNS, [bar], live=live, away=away)


def _edit(
    gateway: Service,
    full: TenantClient,
    single: TenantClient,
    edits: Iterator[str],
    bodies: Sequence[bytes],
    edited: _Edited,
    progress: Progress,
) -> None:
    full.edit_first(next(edits))
    # Questions whose answers an edit of this document drops: asked again after each edit.
    again = full.search_all(bodies, connections=_CONNECTIONS)
    touchy = [body for body, answer in zip(bodies, again, strict=True) if not answer.is_hit]
    for number in progress.track(range(1, _EDITS + 1), description="editing"):
        text = next(edits)
        edited.single.append(edit_cost.edit(gateway, single, text))
        edited.full.append(edit_cost.edit(gateway, full, text))
        asked_again = touchy if number % _ASKED_ALL else bodies
        full.search_all(asked_again, connections=_CONNECTIONS)


def _notes(edited: _Edited, live: float, away: float) -> str:
    dropped = [cost.dropped for cost in edited.full]
    full_ms, single_ms = (
        fmean(cost.processor_ms for cost in costs) for costs in (edited.full, edited.single)
    )
    return (
        f"Two tenants of one gateway have the same {_DOCUMENTS:,} documents of one chunk each; one "
        f"tenant has {live:,.0f} live answers, to as many different questions, the other has "
        "one.\n"
        f"One document is edited {_EDITS} times over HTTP, in both tenants in turn; each edit "
        "replaces a sentence and so its chunk. Then the answers that it may have dropped are "
        "computed again.\n"
        f"An edit dropped {median(dropped):,.0f} answers (median; at most {max(dropped):,.0f}).\n"
        "The gateway times a drain (`nearhit_cache_drain_duration_seconds`): reading the change "
        "from PostgreSQL, three or more steps in Redis, finding the affected answers.\n"
        "Warm is a gateway that has drained before and knows all answers but the newest; cold is "
        f"the first drain of a new process, which reads all records, of {_COLD} processes.\n"
        f"A PUT took {full_ms:.1f} ms of the worker's processor with {_LIVE:,} answers, and "
        f"{single_ms:.1f} ms with one (means).\nRedis was unavailable {away:.0f} times."
    )
