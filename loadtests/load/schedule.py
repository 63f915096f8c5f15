"""When the requests of an open loop are due. Pure and seeded."""

from collections.abc import Iterator
from random import Random
from typing import Literal, TypeAlias

Pattern: TypeAlias = Literal["poisson", "constant"]


def moments(per_second: float, seconds: float, pattern: Pattern, random: Random) -> Iterator[float]:
    """Moments from 0 up to `seconds`, in order; none if `per_second` is 0.

    poisson: each moment is independent of the others, as the requests of many callers are.
    """
    if per_second <= 0:
        return
    moment_s = 0.0
    while True:
        gap_s = random.expovariate(per_second) if pattern == "poisson" else 1 / per_second
        moment_s += gap_s
        if moment_s >= seconds:
            return
        yield moment_s
