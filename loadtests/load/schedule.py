"""When the requests of an open loop are due. Pure and seeded."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, TypeAlias

Pattern: TypeAlias = Literal["poisson", "constant"]

_STAGE = re.compile(r"(?P<first>[\d.]+)(-(?P<last>[\d.]+))?:(?P<seconds>[\d.]+)")


@dataclass(frozen=True, slots=True)
class Stage:
    """The rate goes evenly from `first` to `last`, in requests per second."""

    first: float
    last: float
    seconds: float

    @property
    def requests(self) -> float:
        """How many requests fall due in the stage on average."""
        return self.seconds * (self.first + self.last) / 2

    def due_s(self, requests: float) -> float:
        """When the given number of requests have fallen due, in seconds of the stage.

        Solves first * t + (last - first) / seconds * t^2 / 2 = requests for t.
        """
        if requests <= 0:
            return 0.0
        slope = (self.last - self.first) / self.seconds
        root = math.sqrt(max(0.0, self.first**2 + 2 * slope * requests))
        return 2 * requests / (self.first + root)

    def rate_at(self, at_s: float) -> float:
        return self.first + (self.last - self.first) * at_s / self.seconds

    def __str__(self) -> str:
        rates = f"{self.first:g}" if self.first == self.last else f"{self.first:g}-{self.last:g}"
        return f"{rates}/s for {self.seconds:g} s"


def steady(rate: float, seconds: float) -> Stage:
    return Stage(rate, rate, seconds)


def parse_stage(text: str) -> Stage:
    """A stage such as `100:30` or `50-200:60`: requests per second, then seconds.

    Raises `ValueError`.
    """
    match = _STAGE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text} is no stage such as 100:30 or 50-200:60")
    first = float(match["first"])
    stage = Stage(first, float(match["last"] or first), float(match["seconds"]))
    if stage.requests <= 0:
        raise ValueError(f"{text} has no request: rate and seconds must be above 0")
    return stage


def rate_at(stages: Sequence[Stage], at_s: float) -> float | None:
    """The rate at a moment; None once the last stage is over."""
    for stage in stages:
        if at_s < stage.seconds:
            return stage.rate_at(at_s)
        at_s -= stage.seconds
    return None


def moments(stages: Sequence[Stage], pattern: Pattern, random: Random) -> Iterator[float]:
    """Moments from 0 up to the end of the last stage, in order; a rate of 0 has none.

    poisson: each moment is independent of the others, as the requests of many callers are.
    """
    begun_s, due = 0.0, _gap(pattern, random)
    for stage in stages:
        while due < stage.requests:
            yield begun_s + stage.due_s(due)
            due += _gap(pattern, random)
        due -= stage.requests
        begun_s += stage.seconds


def _gap(pattern: Pattern, random: Random) -> float:
    """Between two requests, in units of the mean gap."""
    return random.expovariate(1.0) if pattern == "poisson" else 1.0
