"""The result of a run: the load, the figures, and whether the run passes."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any
from xml.etree import ElementTree as ET

from loadtests.load.figures import Figures
from loadtests.load.schedule import Stage
from loadtests.loadtest.budget import Finding, Verdict
from loadtests.loadtest.judge import StalenessJudge

_SUITE = "nearhit loadtest"
_LATE_MS_MAX = 5.0  # at P99; beyond it the load generator is too slow


class Outcome(StrEnum):
    PASSED = "PASS"
    FAILED = "FAIL"
    NOT_JUDGED = "NOT JUDGED"


@dataclass(frozen=True, slots=True)
class StageRates:
    """name: of the group in `Figures`. offered, achieved: searches a second."""

    name: str
    stage: str
    offered: float
    achieved: float


@dataclass(frozen=True, slots=True)
class Result:
    """summary: the load in one line. options: the whole load. seconds: counted ones.

    command: repeats the run; it contains no keys. machine: the one that sent the requests.
    stages: as planned. ended_early: why, or None. not_removed: what the run left behind, or None.
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
    stages: Sequence[Stage] = ()
    ended_early: str | None = None
    not_removed: str | None = None

    @property
    def outcome(self) -> Outcome:
        """A missed limit fails a run that ended early too; otherwise such a run has no verdict."""
        if any(finding.verdict is Verdict.MISSED for finding in self.findings):
            return Outcome.FAILED
        if self.ended_early or not all(finding.passes for finding in self.findings):
            return Outcome.NOT_JUDGED
        return Outcome.PASSED

    @property
    def outcome_line(self) -> str:
        """The outcome and its reasons in one line."""
        parts = [self.ended_early and f"{self.ended_early} after {self.seconds:.0f} s"]
        for verdict in (Verdict.MISSED, Verdict.NOT_JUDGED):
            limits = [finding.limit for finding in self.findings if finding.verdict is verdict]
            names = ", ".join(f"{limit.group} {limit.name}" for limit in limits)
            parts.append(names and f"{verdict}: {names}")
        return ": ".join(filter(None, (self.outcome, "; ".join(filter(None, parts)))))

    @property
    def rates(self) -> Sequence[StageRates]:
        """Of the whole run, then of each stage that has begun, if there are several."""
        rates, begun_s = [self._rates("all", self.summary, self.seconds)], 0.0
        for number, stage in enumerate(self.stages, 1):
            seconds = min(stage.seconds, self.seconds - begun_s)
            if len(self.stages) > 1 and seconds > 0:
                rates.append(self._rates(f"stage.{number}", str(stage), seconds))
            begun_s += stage.seconds
        return rates

    def _rates(self, name: str, stage: str, seconds: float) -> StageRates:
        offered, achieved = self.figures.offered[name], self.figures.achieved[name]
        return StageRates(name, stage, round(offered / seconds, 3), round(achieved / seconds, 3))

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
        if self.not_removed is not None:
            yield self.not_removed

    def as_json(self) -> str:
        fields: dict[str, Any] = {
            "url": self.url,
            "date": self.date,
            "command": self.command,
            "machine": self.machine,
            "options": dict(self.options),
            "seconds": self.seconds,
            "outcome": self.outcome,
            "ended_early": self.ended_early,
            "rates": [asdict(rates) for rates in self.rates],
            "budget": [finding.as_json() for finding in self.findings],
            "judged": dict(self.judge.counts),
            "faults": self.judge.shown,
            "figures": self.figures.as_json(),
            "warnings": self.warnings,
        }
        return json.dumps(fields, indent=1, ensure_ascii=False) + "\n"


def junit_xml(result: Result) -> str:
    """One test case for each limit of the budget, and one for the run itself.

    A limit that was not judged is skipped if the budget does not require it, else it fails.
    """
    suite = ET.Element("testsuite", name=_SUITE, time=f"{result.seconds:.3f}")
    suite.append(_case("run", "ends as planned", failure=result.ended_early))
    for finding in result.findings:
        limit = finding.limit
        bound = "at least" if limit.is_least else "at most"
        measured = "nothing" if finding.measured is None else f"{finding.measured:g}"
        message = f"{finding.verdict}: {measured}, {bound} {limit.value:g}"
        case = _case(limit.group, limit.name, failure=None if finding.passes else message)
        if finding.verdict is Verdict.NOT_JUDGED and finding.passes:
            ET.SubElement(case, "skipped", message=message)
        suite.append(case)
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    ET.indent(suite)
    return ET.tostring(suite, "unicode", xml_declaration=True) + "\n"


def _case(group: str, name: str, *, failure: str | None) -> ET.Element:
    case = ET.Element("testcase", classname=f"{_SUITE}.{group}", name=name)
    if failure is not None:
        ET.SubElement(case, "failure", message=failure)
    return case
