"""The cost of requests: latency, and processor time and memory of each server."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice

import uvloop

from loadtests.load import closed_loop
from loadtests.load.closed_loop import ClosedLoopResult
from loadtests.servers import memory, service
from loadtests.servers.service import Service

TURNS = 5  # of each server that gets new questions
_WARM_UP = 50


@dataclass(frozen=True, slots=True)
class RequestCost:
    """Processor time per request, and memory after the last one."""

    per_second: float
    hits: float
    p50_ms: float
    p99_ms: float
    gateway_us: float
    database_us: float
    redis_us: float
    gateway_mb: float
    database_mb: float
    redis_mb: float

    def as_json(self) -> dict[str, float]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Probe:
    """A server, and the requests that it gets."""

    gateway: Service
    requests: Iterator[bytes]


class Meter:
    """The processor time of the servers of a gateway, while it is measured."""

    def __init__(self, gateway: Service) -> None:
        self._gateway = gateway
        self._spent_s = [0.0, 0.0, 0.0]
        self._before: Sequence[dict[int, float]] = []

    def __enter__(self) -> None:
        self._before = [_spent_s(group) for group in _groups(self._gateway)]

    def __exit__(self, *_: object) -> None:
        """What a process has spent that has ended is lost."""
        for place, group in enumerate(_groups(self._gateway)):
            for pid, spent_s in _spent_s(group).items():
                self._spent_s[place] += spent_s - self._before[place].get(pid, 0.0)

    def read(self, outcome: ClosedLoopResult, others: int = 0) -> RequestCost:
        """others: requests that used the servers besides those of the outcome."""
        answered = outcome.count + others
        return RequestCost(
            outcome.per_second,
            outcome.hits / outcome.count,
            outcome.percentile_ms(50),
            outcome.percentile_ms(99),
            *(spent_s / answered * 1e6 for spent_s in self._spent_s),
            *map(memory.megabytes, _groups(self._gateway)),
        )


def take(probes: Mapping[str, Probe], *, seconds: float, turns: int = 1) -> dict[str, RequestCost]:
    """The cost by name, of one connection in a closed loop for `seconds` in all.

    The servers are asked one after the other, in so many turns, so that other work on the machine
    affects all of them.
    """
    outcomes = {name: ClosedLoopResult() for name in probes}
    meters = {name: Meter(probe.gateway) for name, probe in probes.items()}
    for _ in range(turns):
        for name, probe in probes.items():
            url, requests = probe.gateway.url, probe.requests
            turn = closed_loop.run(url, requests, connections=1, seconds=seconds / turns)
            with meters[name]:
                outcomes[name].merge(uvloop.run(turn))
    return {name: meter.read(outcomes[name]) for name, meter in meters.items()}


def take_new(probes: Mapping[str, Probe], *, seconds: float) -> dict[str, RequestCost]:
    """The cost of questions that nobody has asked, after some to warm up."""
    for each in probes.values():
        warm(each, _WARM_UP)
    costs = take(probes, seconds=seconds, turns=TURNS)
    assert not any(cost.hits for cost in costs.values()), "each question is asked once"
    return costs


def warm(probe: Probe, count: int = _WARM_UP) -> None:
    """Send so many of the requests without counting them."""
    some = list(islice(probe.requests, count))
    uvloop.run(closed_loop.send_all(probe.gateway.url, some, connections=1))


def _groups(gateway: Service) -> Sequence[set[int]]:
    """The processes of the gateway, of PostgreSQL and of Redis."""
    return {gateway.pid}, memory.database(gateway), memory.redis(gateway)


def _spent_s(pids: set[int]) -> dict[int, float]:
    return {pid: service.processor_s(pid) for pid in pids}
