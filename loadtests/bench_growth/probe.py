"""The cost of requests: latency, and processor time and memory of each server."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice

import uvloop

from loadtests.load import closed_loop
from loadtests.load.closed_loop import ClosedLoopResult
from loadtests.servers import memory, service
from loadtests.servers.service import Service


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
    """Measures from its creation to `read`."""

    def __init__(self, gateway: Service) -> None:
        self._made = gateway
        self._before = [_spent_s(group) for group in _groups(gateway)]

    def read(self, outcome: ClosedLoopResult, answered: int) -> RequestCost:
        """answered: the number of all requests that used the servers."""
        return _cost(self._made, outcome, self.spent_s(), answered)

    def spent_s(self) -> Sequence[float]:
        """The processor time of each server so far; that of a process that has ended is lost."""
        return [
            sum(spent_s - before.get(pid, 0.0) for pid, spent_s in _spent_s(group).items())
            for group, before in zip(_groups(self._made), self._before, strict=True)
        ]


def take(
    gateway: Service, requests: Iterator[bytes], *, seconds: float, connections: int = 1
) -> RequestCost:
    """The cost of these requests in a closed loop."""
    meter = Meter(gateway)
    outcome = uvloop.run(
        closed_loop.run(gateway.url, requests, connections=connections, seconds=seconds)
    )
    return meter.read(outcome, outcome.count)


def take_in_turns(
    probes: Mapping[str, Probe], *, seconds: float, turns: int
) -> dict[str, RequestCost]:
    """The cost by name, of one connection in a closed loop for `seconds` in all.

    The servers are asked one after the other, in so many turns, so that other work on the machine
    affects all of them.
    """
    outcomes = {name: ClosedLoopResult() for name in probes}
    spent_s = {name: [0.0, 0.0, 0.0] for name in probes}
    for _ in range(turns):
        for name, probe in probes.items():
            meter = Meter(probe.gateway)
            turn = closed_loop.run(
                probe.gateway.url, probe.requests, connections=1, seconds=seconds / turns
            )
            outcomes[name].merge(uvloop.run(turn))
            spent_s[name] = [
                before + more for before, more in zip(spent_s[name], meter.spent_s(), strict=True)
            ]
    return {
        name: _cost(probe.gateway, outcomes[name], spent_s[name], outcomes[name].count)
        for name, probe in probes.items()
    }


def warm(gateway: Service, requests: Iterator[bytes], count: int) -> None:
    """Send so many of the requests without counting them."""
    some = list(islice(requests, count))
    uvloop.run(closed_loop.send_all(gateway.url, some, connections=1))


def _cost(
    gateway: Service, outcome: ClosedLoopResult, spent_s: Sequence[float], answered: int
) -> RequestCost:
    return RequestCost(
        outcome.per_second,
        outcome.hits / outcome.count,
        outcome.percentile_ms(50),
        outcome.percentile_ms(99),
        *(server_s / answered * 1e6 for server_s in spent_s),
        *map(memory.megabytes, _groups(gateway)),
    )


def _groups(gateway: Service) -> Sequence[set[int]]:
    """The processes of the gateway, of PostgreSQL and of Redis."""
    return {gateway.pid}, memory.database(gateway), memory.redis(gateway)


def _spent_s(pids: set[int]) -> dict[int, float]:
    return {pid: service.processor_s(pid) for pid in pids}
