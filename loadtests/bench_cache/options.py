"""The options of the benchmark of the cache, and the settings of its gateways."""

from dataclasses import dataclass
from typing import TypeAlias

from loadtests.bench.frame import SETTINGS, Run, option

# When the machine is busy, the gateway must neither take Redis for unavailable nor fail to store
# an answer.
PATIENT = {**SETTINGS, "NEARHIT_REDIS_TIMEOUT_S": "2"}


@dataclass(frozen=True, slots=True)
class CacheOptions:
    """seconds, rounds: of the sections whose cases take turns."""

    connections: int = option(16, "connections of the closed loop")
    seconds: float = option(3.0, "seconds of one turn", quick=0.5)
    rounds: int = option(9, "turns of each case", quick=2)


CacheRun: TypeAlias = Run[CacheOptions]
