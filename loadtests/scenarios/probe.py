"""The cost of requests: latency, and processor time and memory of each server.

The passages that are searched and the questions about them are generated, once for all sections.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import count, islice
from typing import TypeAlias

import orjson
import uvloop

from loadtests.bench import turns as in_turns
from loadtests.bench.frame import Run
from loadtests.bench.section import Columns
from loadtests.bench.turns import Case
from loadtests.bench_index import corpus
from loadtests.bench_index.corpus import Passages
from loadtests.load import closed_loop
from loadtests.load.closed_loop import ClosedLoopResult
from loadtests.load.request import RequestTemplate
from loadtests.servers import processes
from loadtests.servers.processes import Processes
from loadtests.servers.service import Service
from loadtests.workload import tenant_client, topics
from loadtests.workload.topics import TopicWorld

TURNS = 5  # of each server that gets new questions
_WARM_UP = 50
_PASSAGES, _QUESTIONS, SEED = 5_000, 20_000, 19

RequestCost: TypeAlias = Mapping[str, float]
"""By the names of COLUMNS: processor time per request, and memory after the last one."""
COLUMNS: Columns = {
    "per_second": ("requests/s", ",.0f"),
    "hits": ("hits", ".2f"),
    "p50_ms": ("P50 ms", ".2f"),
    "p99_ms": ("P99 ms", ".2f"),
    "gateway_us": ("gateway µs", ",.0f"),
    "database_us": ("PostgreSQL µs", ",.0f"),
    "redis_us": ("Redis µs", ",.0f"),
    "gateway_mb": ("gateway MB", ",.0f"),
    "database_mb": ("PostgreSQL MB", ",.0f"),
    "redis_mb": ("Redis MB", ",.0f"),
}


@cache
def built() -> TopicWorld:
    return topics.build(_PASSAGES, _QUESTIONS, SEED)


@cache
def passages() -> Passages:
    return uvloop.run(corpus.understood([document["text"] for document in built().documents]))


def questions() -> Iterator[str]:
    """Endless questions, all different."""
    for round_number in count():
        for question in built().questions:
            yield f"{question} {round_number}" if round_number else question


def fill(gateway: Service, tenants: Mapping[str, int]) -> None:
    """New tenants with so many chunks each, past the writer."""
    uvloop.run(corpus.fill(gateway.database_url, passages(), tenants, seed=SEED))


def seconds(run: Run) -> float:
    """Of each probe."""
    return run.sized(10.0, 2.0)


@dataclass(frozen=True, slots=True)
class Probe:
    """A server, and the requests that it gets."""

    gateway: Service
    requests: Iterator[bytes]


def asking(gateway: Service, tenant: str, subject: str = "bench") -> Callable[[str], bytes]:
    """Encodes questions of a new caller in the group `readers` as requests.

    Callers of one subject share cached answers.
    """
    key = tenant_client.new_key(gateway, tenant, subject, groups=["readers"])
    template = RequestTemplate(f"{gateway.url}/v1/search", key)
    return lambda question: template.encode(orjson.dumps({"query": question}))


def new_questions(
    gateways: Mapping[str, Service], tenant: str, asked: Mapping[str, Iterator[str]]
) -> dict[str, Probe]:
    """Questions that nobody has asked, for each gateway, of a caller of its own: none is cached."""
    return {
        name: Probe(gateway, map(asking(gateway, tenant, name.replace(" ", "-")), asked[name]))
        for name, gateway in gateways.items()
    }


def servers(gateway: Service) -> Sequence[Processes]:
    """The processes of the gateway, of PostgreSQL and of Redis."""
    database, redis = partial(processes.database, gateway), partial(processes.redis, gateway)
    return lambda: (gateway.pid,), database, redis


def cost(
    gateway: Service, outcome: ClosedLoopResult, spent_s: Sequence[float], others: int = 0
) -> RequestCost:
    """spent_s: by `servers`. others: requests that used them besides those of the outcome."""
    figures = (
        outcome.per_second,
        outcome.hits / outcome.count,
        outcome.percentile_ms(50),
        outcome.percentile_ms(99),
        *(seconds / (outcome.count + others) * 1e6 for seconds in spent_s),
        *(processes.megabytes(pids()) for pids in servers(gateway)),
    )
    return dict(zip(COLUMNS, figures, strict=True))


def take(probes: Mapping[str, Probe], *, seconds: float, turns: int = 1) -> dict[str, RequestCost]:
    """The cost by name, of one connection in a closed loop for `seconds` in all.

    The servers are asked one after the other, in so many turns.
    """
    cases = {
        name: Case(probe.gateway.url, probe.requests, servers(probe.gateway))
        for name, probe in probes.items()
    }
    taken = in_turns.take_rounds(cases, range(turns), seconds=seconds / turns, connections=1)
    return {
        name: cost(probe.gateway, taken[name].whole, taken[name].whole_spent_s)
        for name, probe in probes.items()
    }


def take_new(probes: Mapping[str, Probe], *, seconds: float) -> dict[str, RequestCost]:
    """The cost of questions that nobody has asked, after some to warm up."""
    for each in probes.values():
        warm(each, _WARM_UP)
    costs = take(probes, seconds=seconds, turns=TURNS)
    assert not any(cost["hits"] for cost in costs.values()), "each question is asked once"
    return costs


def warm(probe: Probe, count: int = _WARM_UP) -> None:
    """Send so many of the requests without counting them."""
    some = list(islice(probe.requests, count))
    uvloop.run(closed_loop.send_all(probe.gateway.url, some, connections=1))
