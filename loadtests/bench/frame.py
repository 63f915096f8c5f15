"""What each section of a benchmark gets, and the settings that most of them give to servers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeVar

from rich.console import Console
from rich.progress import Progress

from loadtests.bench.section import Section

T = TypeVar("T")

# What most sections need of a gateway: no audit that computes what no caller asked for.
SETTINGS: Mapping[str, str] = {"NEARHIT_CACHE_AUDIT_PER_MILLE": "0", "NEARHIT_LOG_LEVEL": "error"}
# When the machine is busy, the gateway must neither take Redis for unavailable nor fail to store
# an answer.
PATIENT: Mapping[str, str] = {**SETTINGS, "NEARHIT_REDIS_TIMEOUT_S": "2"}


@dataclass(frozen=True, slots=True)
class Run:
    """What each section gets. data_folder: None if DATA was not given.

    picks: the only sizes, systems, faults or mutants; those of the section if empty.
    minutes: of a soak; its own if None. seed: of what a soak draws.
    """

    console: Console
    data_folder: Path | None = None
    is_quick: bool = False
    picks: Sequence[str] = ()
    minutes: float | None = None
    seed: int = 1

    @property
    def data(self) -> Path:
        """The folder of the data, for a section that cannot do without."""
        if self.data_folder is None:
            raise SystemExit("this section needs DATA, the folder of the data")
        return self.data_folder

    def progress(self) -> Progress:
        return Progress(console=self.console)

    def sized(self, whole: T, quick: T) -> T:
        return quick if self.is_quick else whole

    def sizes(self, *whole: int, quick: Sequence[int]) -> Sequence[int]:
        """Those that were picked, smallest first."""
        return sorted(map(int, self.picks)) or self.sized(whole, quick)

    def picked(self, names: Sequence[str]) -> Sequence[str]:
        """Those of the names that were picked; all if none was."""
        if unknown := set(self.picks).difference(names):
            raise SystemExit(f"{', '.join(unknown)}: none of {', '.join(names)}")
        return self.picks or names


Measure: TypeAlias = Callable[[Run], Section]
