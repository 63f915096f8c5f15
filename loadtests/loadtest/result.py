"""The result of a run: the load, the figures, and whether the budget is met."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loadtests.load.figures import Figures
from loadtests.loadtest.budget import Finding
from loadtests.loadtest.judge import StalenessJudge

_LATE_MS_MAX = 5.0  # at P99; beyond it the load generator is too slow


@dataclass(frozen=True, slots=True)
class Result:
    """summary: the load in one line. options: the whole load. seconds: counted ones.

    command: repeats the run; it contains no keys. machine: the one that sent the requests.
    """

    url: str
    date: str
    command: str
    machine: str
    summary: str
    options: Mapping[str, Any]
    seconds: float
    figures: Figures
    judge: StalenessJudge
    findings: Sequence[Finding]

    @property
    def held(self) -> bool:
        return all(finding.held for finding in self.findings)

    @property
    def warnings(self) -> Sequence[str]:
        return list(self._warnings())

    def _warnings(self) -> Iterator[str]:
        late = self.figures.late
        if late.count and late.percentile_ms(99) > _LATE_MS_MAX:
            yield (
                f"The load generator sent requests late, by {late.percentile_ms(99):.0f} ms at "
                "P99: the latencies are longer than those of the service."
            )

    def as_json(self) -> str:
        fields: dict[str, Any] = {
            "url": self.url,
            "date": self.date,
            "command": self.command,
            "machine": self.machine,
            "options": dict(self.options),
            "seconds": self.seconds,
            "held": self.held,
            "budget": [finding.as_json() for finding in self.findings],
            "judged": dict(self.judge.counts),
            "faults": self.judge.shown,
            "figures": self.figures.as_json(),
            "warnings": self.warnings,
        }
        return json.dumps(fields, indent=1, ensure_ascii=False) + "\n"
