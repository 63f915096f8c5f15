"""Live answers of one tenant: what a repeat costs among them, and what a write does."""

import time
from dataclasses import dataclass
from itertools import cycle, islice
from random import Random
from statistics import median

import uvloop

from loadtests.bench.section import Section, table
from loadtests.bench_growth import caller, made_up, plot, probe
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
    """cost: of a repeat. drain_ms, put_ms: medians of edits. dropped: by an edit, the mean."""

    cost: RequestCost
    drain_ms: float
    put_ms: float
    dropped: float


def measure(run: GrowthRun) -> Section:
    settings = {"NEARHIT_CACHE_ENTRIES": str(2 * max(run.options.entries))}
    made_up_world = made_up.built()
    questions = made_up.questions()
    at: dict[int, _At] = {}
    with (
        service.nearhit(settings) as made,
        new_tenant(made, "bench") as mine,
        run.console.status("writing") as status,
    ):
        mine.put(made_up_world.documents, lambda _: None)
        ask = caller.of(made, "bench")
        edits = _Edits(mine)
        live = 0
        for count in run.options.entries:
            status.update(f"{count:,} entries")
            while live < count:
                some = list(islice(questions, min(_STRETCH, count - live)))
                requests = [ask(question) for question in some]
                uvloop.run(closed_loop.send_all(made.url, requests, connections=_CONNECTIONS))
                live += len(some)
            repeats = [ask(question) for question in some[-_REPEATED_MAX:]]
            cost = probe.take(made, cycle(repeats), seconds=run.options.seconds)
            at[count] = _edited(made, edits, cost)
    return Section(
        title="Live entries",
        text=_text(run, at),
        figures={
            str(count): {
                **one.cost.as_json(),
                "drain_ms": one.drain_ms,
                "put_ms": one.put_ms,
                "dropped": one.dropped,
            }
            for count, one in at.items()
        },
        bars=[],
    )


class _Edits:
    """One document, again and again with another sentence."""

    def __init__(self, mine: TenantClient) -> None:
        self._mine = mine
        self._random = Random(made_up.SEED)  # noqa: S311  no secret
        self._text: str = made_up.built().documents[0]["text"]

    def write(self) -> None:
        self._text = topics.edited(self._text, made_up.built().topics[0], self._random)
        self._mine.put_one("document-0", self._text, language="en", readers=["tenant"])


def _edited(made: Service, edits: _Edits, cost: RequestCost) -> _At:
    edits.write()  # the first one reads what was stored since the last
    dropped = metrics.cache_event(made.url, "dropped")
    drains_ms, puts_ms = [], []
    for _ in range(_EDITS):
        before_s = metrics.read(made.url, "nearhit_drain_seconds_sum")
        started_s = time.perf_counter()
        edits.write()
        puts_ms.append((time.perf_counter() - started_s) * 1000)
        after_s = metrics.read(made.url, "nearhit_drain_seconds_sum")
        drains_ms.append((after_s - before_s) * 1000)
    dropped = metrics.cache_event(made.url, "dropped") - dropped
    return _At(cost, median(drains_ms), median(puts_ms), dropped / _EDITS)


def _text(run: GrowthRun, at: dict[int, _At]) -> str:
    picture = plot.lines(
        run.pictures / "growth-entries.svg",
        list(at),
        {
            "ms": {
                "repeat, P50": [one.cost.p50_ms for one in at.values()],
                "repeat, P99": [one.cost.p99_ms for one in at.values()],
                "drain of an edit": [one.drain_ms for one in at.values()],
            },
            "MB": {
                "gateway": [one.cost.gateway_mb for one in at.values()],
                "Redis": [one.cost.redis_mb for one in at.values()],
            },
        },
        xlabel="live answers",
    )
    notes = (
        f"So many answers of one tenant with {len(made_up.built().documents):,} documents, to as "
        f"many different questions of one caller; at most {_REPEATED_MAX:,} of them, the newest, "
        f"are repeated in turns by one connection. Then one document is edited {_EDITS} times; the "
        "drain is timed within the gateway, and the answers that an edit drops are not asked again."
    )
    rows = [
        (
            f"{count:,}",
            *one.cost.row(),
            f"{one.drain_ms:.1f}",
            f"{one.put_ms:.1f}",
            f"{one.dropped:.1f}",
        )
        for count, one in at.items()
    ]
    head = ("live answers", *probe.HEAD, "drain ms", "PUT ms", "dropped an edit")
    return f"{notes}\n\n{table(head, rows)}\n\n{picture}"
