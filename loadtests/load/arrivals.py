"""When requests are due. Pure and seeded."""

from collections.abc import Iterator
from random import Random
from typing import Literal, TypeAlias

Pattern: TypeAlias = Literal["poisson", "constant"]


def due(per_second: float, seconds: float, pattern: Pattern, random: Random) -> Iterator[float]:
    """Moments from 0 up to `seconds`, in order; none if nothing is to come.

    poisson: each comes without regard to the others, as the requests of many strangers do.
    """
    if per_second <= 0:
        return
    at_s = 0.0
    while True:
        at_s += random.expovariate(per_second) if pattern == "poisson" else 1 / per_second
        if at_s >= seconds:
            return
        yield at_s
