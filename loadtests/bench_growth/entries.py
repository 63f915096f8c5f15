"""The cost of repeated questions and of edits among the live answers of one tenant."""

import time
from dataclasses import dataclass
from itertools import cycle, islice
from random import Random
from statistics import median

import uvloop

from loadtests.bench.section import Section, table
from loadtests.bench_growth import caller, generated_corpus, plot, probe
from loadtests.bench_growth.options import GrowthRun
from loadtests.bench_growth.probe import RequestCost
from loadtests.load import closed_loop
from loadtests.servers import metrics, service
from loadtests.servers.service import Service
from loadtests.workload import topics
from loadtests.workload.tenant_client import TenantClient, new_tenant

_EDITS = 20
_CONNECTIONS = 8
_STRETCH = 1_000  # requests at a time
_REPEATED_MAX = 1_000  # questions that are repeated, in turns


@dataclass(frozen=True, slots=True)
class _At:
    """cost: of a repeat. drain_ms, put_ms: medians of edits. dropped: mean per edit."""

    cost: RequestCost
    drain_ms: float
    put_ms: float
    dropped: float


def measure(run: GrowthRun) -> Section:
    settings = {"NEARHIT_REDIS_ENTRIES_MAX": str(2 * max(run.options.entries))}
    made_up_world = generated_corpus.built()
    questions = generated_corpus.questions()
    at: dict[int, _At] = {}
    with (
        service.nearhit(settings) as gateway,
        new_tenant(gateway, "bench") as tenant,
        run.console.status("writing") as status,
    ):
        tenant.put(made_up_world.documents, lambda _: None)
        ask = caller.of(gateway, "bench")
        edits = _Edits(tenant)
        live = 0
        for count in run.options.entries:
            status.update(f"{count:,} entries")
            while live < count:
                some = list(islice(questions, min(_STRETCH, count - live)))
                requests = [ask(question) for question in some]
                uvloop.run(closed_loop.send_all(gateway.url, requests, connections=_CONNECTIONS))
                live += len(some)
            repeats = [ask(question) for question in some[-_REPEATED_MAX:]]
            cost = probe.take(gateway, cycle(repeats), seconds=run.options.seconds)
            at[count] = _edited(gateway, edits, cost)
    return Section(
        title="Live entries",
        text=_text(run, at),
        figures={
            str(count): {
                **figures_at.cost.as_json(),
                "drain_ms": figures_at.drain_ms,
                "put_ms": figures_at.put_ms,
                "dropped": figures_at.dropped,
            }
            for count, figures_at in at.items()
        },
        bars=[],
    )


class _Edits:
    """Edits of one document, each with another sentence."""

    def __init__(self, tenant: TenantClient) -> None:
        self._mine = tenant
        self._random = Random(generated_corpus.SEED)  # noqa: S311  no secret
        self._text: str = generated_corpus.built().documents[0]["text"]

    def write(self) -> None:
        self._text = topics.edited(self._text, generated_corpus.built().topics[0], self._random)
        self._mine.put_one("document-0", self._text, language="en", readers=["tenant"])


def _edited(gateway: Service, edits: _Edits, cost: RequestCost) -> _At:
    edits.write()  # the first drain reads the records stored since the last one
    dropped = metrics.cache_event(gateway.url, "dropped")
    drains_ms, puts_ms = [], []
    for _ in range(_EDITS):
        before_s = metrics.read(gateway.url, "nearhit_cache_drain_duration_seconds_sum")
        started_s = time.perf_counter()
        edits.write()
        puts_ms.append((time.perf_counter() - started_s) * 1000)
        after_s = metrics.read(gateway.url, "nearhit_cache_drain_duration_seconds_sum")
        drains_ms.append((after_s - before_s) * 1000)
    dropped = metrics.cache_event(gateway.url, "dropped") - dropped
    return _At(cost, median(drains_ms), median(puts_ms), dropped / _EDITS)


def _text(run: GrowthRun, at: dict[int, _At]) -> str:
    picture = plot.lines(
        run.pictures / "growth-entries.svg",
        list(at),
        {
            "ms": {
                "repeat, P50": [figures_at.cost.p50_ms for figures_at in at.values()],
                "repeat, P99": [figures_at.cost.p99_ms for figures_at in at.values()],
                "drain of an edit": [figures_at.drain_ms for figures_at in at.values()],
            },
            "MB": {
                "gateway": [figures_at.cost.gateway_mb for figures_at in at.values()],
                "Redis": [figures_at.cost.redis_mb for figures_at in at.values()],
            },
        },
        xlabel="live answers",
    )
    notes = (
        f"One tenant with {len(generated_corpus.built().documents):,} documents and so many live "
        "answers, to as many different questions of one caller. One connection repeats the newest "
        f"of them, at most {_REPEATED_MAX:,}, in turn. Then one document is edited {_EDITS} times; "
        "the drain is timed within the gateway, and dropped answers are not computed again."
    )
    rows = [
        (
            f"{count:,}",
            *figures_at.cost.row(),
            f"{figures_at.drain_ms:.1f}",
            f"{figures_at.put_ms:.1f}",
            f"{figures_at.dropped:.1f}",
        )
        for count, figures_at in at.items()
    ]
    head = ("live answers", *probe.HEAD, "drain ms", "PUT ms", "dropped an edit")
    return f"{notes}\n\n{table(head, rows)}\n\n{picture}"
