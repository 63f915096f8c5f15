"""The options of the benchmark of load."""

from dataclasses import dataclass
from typing import TypeAlias

from loadtests.bench.frame import Run, option


@dataclass(frozen=True, slots=True)
class LoadOptions:
    seconds: float = option(60.0, "seconds of each steady load", quick=5.0)
    subscriptions: int = option(10_000, "subscriptions that are watched at once", quick=250)
    edits: int = option(500, "edits, of each of which five subscribers hear", quick=20)
    bare_p99_ms: float = option(
        1.58,  # on the page of commit e67eb62
        "P99 of the bare app at 500 requests per second on a machine that does nothing else; if "
        "it differs by more than half of that, the P99 of the mix is not judged",
    )


LoadBenchRun: TypeAlias = Run[LoadOptions]
