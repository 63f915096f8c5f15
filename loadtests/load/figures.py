"""The figures of a run: latencies in histograms by tier and scope, figures by second, errors."""

import bisect
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from hdrh.histogram import HdrHistogram

from loadtests.load.response import HttpResponse
from loadtests.load.schedule import Stage

# From a microsecond to ten minutes, three digits of each value.
_LOWEST_US, _HIGHEST_US, _DIGITS = 1, 600_000_000, 3
PERCENTILES: Mapping[str, float] = {
    "p50_ms": 50,
    "p90_ms": 90,
    "p95_ms": 95,
    "p99_ms": 99,
    "p999_ms": 99.9,
    "max_ms": 100,
}


def interpolated_ms(seconds: Sequence[float], percentile: float) -> float | None:
    """Of single values, by interpolation; None of none."""
    return round(float(np.percentile(seconds, percentile)) * 1000, 3) if seconds else None


class Latencies:
    def __init__(self) -> None:
        self.histogram = HdrHistogram(_LOWEST_US, _HIGHEST_US, _DIGITS)

    def add(self, seconds: float) -> None:
        self.histogram.record_value(min(_HIGHEST_US, max(_LOWEST_US, round(seconds * 1e6))))

    def merge(self, other: "Latencies") -> None:
        """Add all values of the other one."""
        self.histogram.add(other.histogram)

    @property
    def count(self) -> int:
        count: int = self.histogram.get_total_count()
        return count

    def percentile_ms(self, percentile: float) -> float:
        """The latency that `percentile` percent of the values do not exceed."""
        us: float = self.histogram.get_value_at_percentile(percentile)
        return us / 1000

    def as_json(self) -> dict[str, float]:
        return {"count": self.count} | {
            name: self.percentile_ms(percentile) for name, percentile in PERCENTILES.items()
        }


_SLOWEST = 20


@dataclass(frozen=True, slots=True)
class SlowRequest:
    """waited_ms: from when the request was due until it was sent."""

    ms: float
    waited_ms: float
    at_s: float
    tier: str
    scope: str
    server_timing: str


@dataclass(slots=True)
class SecondFigures:
    """The requests that were due in one second."""

    offered: int = 0
    answers: int = 0
    hits: int = 0
    errors: int = 0
    writes: int = 0
    p50_ms: float = 0.0
    p99_ms: float = 0.0


class CountedSearch(NamedTuple):
    """at_s: when it was due, since counting began. seconds: waited for it; None if unknown."""

    at_s: float
    seconds: float | None
    is_answered: bool


class Figures:
    """latencies: from when the requests were due, by group: `all`, `tier.…`, `scope.…`, `stage.…`
    (numbered from 1, if there is more than one) and `write`. A search that timed out counts in all
    of these but the tiers, as long as it was waited for.
    The group `sent` counts from when they were sent, which hides the waiting during a stall.
    late: how late the generator started requests.
    offered, achieved: searches that were due, and those with the expected response, by `all` and
    `stage.…`.
    searches: but for those that were refused as they should be.
    """

    def __init__(self, begun_s: float, stages: Sequence[Stage] = ()) -> None:
        self.latencies: defaultdict[str, Latencies] = defaultdict(Latencies)
        self.late = Latencies()
        self.errors: Counter[str] = Counter()
        self.searches: list[CountedSearch] = []
        self.requests = 0
        self.answers = 0
        self.offered: Counter[str] = Counter()
        self.achieved: Counter[str] = Counter()
        self._begun_s = begun_s
        self._stage_ends_s = list(itertools.accumulate(stage.seconds for stage in stages))
        self.slowest: list[SlowRequest] = []
        self._seconds: defaultdict[int, SecondFigures] = defaultdict(SecondFigures)

    def began(self, due_s: float, now_s: float) -> None:
        self.requests += 1
        self.offered.update(self._wholes(due_s))
        self._second(due_s).offered += 1
        self.late.add(now_s - due_s)

    def refused(self, due_s: float) -> None:
        """A search with an invalid key was refused, as it should be."""
        self.achieved.update(self._wholes(due_s))

    def timed_out(self, due_s: float, scope: str, *, waited_s: float, timeout_s: float) -> None:
        """Nothing tells how long the answer would have taken: as long as the wait, at least."""
        self._count_error(due_s, "timeout")
        groups = (*self._wholes(due_s), f"scope.{scope}")
        self._add(due_s, groups, max(waited_s, timeout_s), is_answered=False)
        self.latencies["sent"].add(timeout_s)

    def answered(self, due_s: float, scope: str, reply: HttpResponse) -> None:
        seconds = reply.answered_s - due_s
        wholes = self._wholes(due_s)
        groups = (*wholes, f"tier.{reply.tier}", f"scope.{scope}")
        self._add(due_s, groups, seconds, is_answered=True)
        self.latencies["sent"].add(reply.answered_s - reply.sent_s)
        self.answers += 1
        self.achieved.update(wholes)
        second = self._second(due_s)
        second.answers += 1
        second.hits += reply.tier != "miss"
        ms = round(seconds * 1000, 3)
        if len(self.slowest) == _SLOWEST and ms <= self.slowest[-1].ms:
            return
        slow = SlowRequest(
            ms=ms,
            waited_ms=round((reply.sent_s - due_s) * 1000, 3),
            at_s=round(due_s - self._begun_s, 3),
            tier=reply.tier,
            scope=scope,
            server_timing=reply.headers.get(b"server-timing", ""),
        )
        slowest_first = sorted([slow, *self.slowest], key=attrgetter("ms"), reverse=True)
        self.slowest = slowest_first[:_SLOWEST]

    def wrote(self, due_s: float, answered_s: float) -> None:
        self.latencies["write"].add(answered_s - due_s)
        self._second(due_s).writes += 1

    def failed(self, due_s: float, what: str) -> None:
        """A search."""
        self._count_error(due_s, what)
        self.searches.append(CountedSearch(due_s - self._begun_s, None, is_answered=False))

    def write_failed(self, due_s: float, what: str) -> None:
        self._count_error(due_s, f"write: {what}")

    def share(self, name: str) -> float:
        """The group's share of all answers."""
        return self.count(name) / self.answers if self.answers else 0.0

    def count(self, name: str) -> int:
        return self.latencies[name].count if name in self.latencies else 0

    @property
    def error_share(self) -> float:
        return self.errors.total() / self.requests if self.requests else 0.0

    @property
    def seconds(self) -> Sequence[SecondFigures]:
        """All seconds in order, also those in which nothing was due."""
        last = max(self._seconds, default=-1)
        latencies_s: list[list[float]] = [[] for _ in range(last + 1)]
        for search in self.searches:
            if search.seconds is not None:
                latencies_s[max(0, int(search.at_s))].append(search.seconds)
        return [
            replace(
                self._seconds[number],
                p50_ms=interpolated_ms(of_second, 50) or 0.0,
                p99_ms=interpolated_ms(of_second, 99) or 0.0,
            )
            for number, of_second in enumerate(latencies_s)
        ]

    def as_json(self) -> dict[str, Any]:
        return {
            "requests": self.requests,
            "answers": self.answers,
            "offered": dict(self.offered),
            "achieved": dict(self.achieved),
            "errors": dict(self.errors.most_common()),
            "error_share": self.error_share,
            "hit_rate": 1 - self.share("tier.miss"),
            "latencies": {
                name: values.as_json() for name, values in sorted(self.latencies.items())
            },
            "late": self.late.as_json(),
            "seconds": [asdict(second) for second in self.seconds],
            "slowest": [asdict(slow) for slow in self.slowest],
        }

    def _add(
        self, due_s: float, groups: Iterable[str], seconds: float, *, is_answered: bool
    ) -> None:
        for name in groups:
            self.latencies[name].add(seconds)
        self.searches.append(CountedSearch(due_s - self._begun_s, seconds, is_answered))

    def _count_error(self, due_s: float, what: str) -> None:
        self.errors[what] += 1
        self._second(due_s).errors += 1

    def _wholes(self, due_s: float) -> tuple[str, ...]:
        """The groups that each search of the moment is in."""
        if len(self._stage_ends_s) < 2:
            return ("all",)
        number = bisect.bisect(self._stage_ends_s[:-1], due_s - self._begun_s) + 1
        return ("all", f"stage.{number}")

    def _second(self, due_s: float) -> SecondFigures:
        return self._seconds[max(0, int(due_s - self._begun_s))]
