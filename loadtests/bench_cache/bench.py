"""What every section is given."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from loadtests.bench.section import Section

# A pause of a busy machine must not be taken for a Redis that is away, and an answer not kept for
# one that was dropped; nor may an audit compute what nobody asked.
PATIENT = {
    "NEARHIT_CACHE_BUDGET_S": "2",
    "NEARHIT_AUDIT_PER_MILLE": "0",
    "NEARHIT_LOG_LEVEL": "error",
}


@dataclass(frozen=True, slots=True)
class Bench:
    """folder:   of the data, for the sections that need one.
    connections: that ask at a time.
    seconds:     of one turn of what takes turns, and `rounds` of them.
    minutes:     of edits that are replayed one by one.
    """

    folder: Path | None
    console: Console
    connections: int
    seconds: float
    rounds: int
    minutes: float

    @property
    def data(self) -> Path:
        if self.folder is None:
            raise SystemExit("this section needs the folder of the data: give it first")
        return self.folder


Measure = Callable[[Bench], Section]
