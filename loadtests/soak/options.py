"""What a soak does, for how long."""

from collections.abc import Collection
from dataclasses import dataclass

# What can be left out, to see what is wrong without it.
PARTS = ("queued", "credentials")


@dataclass(frozen=True, slots=True)
class SoakOptions:
    """answers: enough of them end it; 0: as many as come. faults: the names of those that happen.

    without: of `PARTS`. until_caught: the first violation ends it.
    """

    minutes: float
    answers: int
    seed: int
    faults: tuple[str, ...] = ()
    fault_every_s: float = 20.0
    rest_every_s: float = 20.0
    balanced: bool = False
    without: Collection[str] = ()
    until_caught: bool = False
