"""The budget of a run: a file of limits, and whether the run meets them. Pure but for the file.

[all]
p99_ms = 20
errors = 0.001
[tier.memory]
p99_ms = 2
[stage.3]
p99_ms = 50
[write]
p95_ms = 100
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from loadtests.load.figures import PERCENTILES, Figures
from loadtests.loadtest.judge import StalenessJudge

_FAULTS = {"stale", "leaked"}  # in `all` only; counts of answers
_LEAST = {"hit_rate"}  # in `all` only, a minimum
_GROUPED = ("tier", "scope", "stage")
_ENOUGH = 100  # requests before a percentile or a share of errors ends a run; not measured
_WITHOUT_A_FILE: Mapping[str, Any] = {"all": {"errors": 0.001, "stale": 0, "leaked": 0}}


class InvalidBudget(Exception):
    """The file is invalid; the message says where."""


class Verdict(StrEnum):
    HELD = "held"
    MISSED = "missed"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True, slots=True)
class Limit:
    """group: the group of requests in `Figures`. name: the figure.

    is_required: whether a run in which there was nothing to measure fails.
    """

    group: str
    name: str
    value: float
    is_required: bool = True

    @property
    def is_least(self) -> bool:
        return self.name in _LEAST


@dataclass(frozen=True, slots=True)
class Finding:
    """measured: None if there was nothing to measure."""

    limit: Limit
    measured: float | None

    @property
    def verdict(self) -> Verdict:
        if self.measured is None:
            return Verdict.NOT_JUDGED
        beyond = self.measured - self.limit.value
        held = beyond >= 0 if self.limit.is_least else beyond <= 0
        return Verdict.HELD if held else Verdict.MISSED

    @property
    def passes(self) -> bool:
        if self.verdict is Verdict.NOT_JUDGED:
            return not self.limit.is_required
        return self.verdict is Verdict.HELD

    def as_json(self) -> dict[str, Any]:
        return {
            "of": self.limit.group,
            "figure": self.limit.name,
            "limit": self.limit.value,
            "measured": self.measured,
            "verdict": self.verdict,
        }


def read(file: Path | None) -> list[Limit]:
    """Without a file: no stale or leaked answer, and at most one error in a thousand requests.

    Only a file demands that something was compared for staleness and leaks.

    Raises `InvalidBudget`.
    """
    if file is None:
        limits = _limits(_WITHOUT_A_FILE)
        return [replace(limit, is_required=limit.name not in _FAULTS) for limit in limits]
    try:
        return list(_limits(tomllib.loads(file.read_text())))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, InvalidBudget) as error:
        raise InvalidBudget(f"{file}: {error}") from None


def judged(limits: Iterable[Limit], figures: Figures, judge: StalenessJudge) -> list[Finding]:
    return [Finding(limit, _measured(limit, figures, judge)) for limit in limits]


def breach(limits: Iterable[Limit], figures: Figures, judge: StalenessJudge) -> Finding | None:
    """The first limit that is missed before the end of a run.

    A stale or leaked answer too many counts at once, other figures from a hundred requests of
    their group on. A minimum is judged at the end alone.
    """
    for finding in judged(limits, figures, judge):
        limit = finding.limit
        if finding.verdict is not Verdict.MISSED or limit.is_least:
            continue
        requests = figures.requests if limit.name == "errors" else figures.count(limit.group)
        if limit.name in _FAULTS or requests >= _ENOUGH:
            return finding
    return None


def _limits(tables: Mapping[str, Any]) -> Iterator[Limit]:
    for group, table in tables.items():
        if not isinstance(table, dict):
            raise InvalidBudget(f"{group} is outside a table such as [all]")
        if group in _GROUPED:
            for name, limits in table.items():
                yield from _of_table(f"{group}.{name}", limits)
        elif group in ("all", "write"):
            yield from _of_table(group, table)
        else:
            raise InvalidBudget(
                f"[{group}] is none of [all], [write], [tier.…], [scope.…], [stage.…]"
            )


def _of_table(group: str, limits: Any) -> Iterator[Limit]:
    names = {*PERCENTILES, *({"errors", *_FAULTS, *_LEAST} if group == "all" else ())}
    if not isinstance(limits, dict):
        raise InvalidBudget(f"[{group}] is no table")
    for name, value in limits.items():
        if name not in names:
            raise InvalidBudget(f"[{group}] {name} is none of {', '.join(sorted(names))}")
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise InvalidBudget(f"[{group}] {name} is no number from 0")
        yield Limit(group, name, value)


def _measured(limit: Limit, figures: Figures, judge: StalenessJudge) -> float | None:
    match limit.name:
        case "errors":
            return figures.error_share if figures.requests else None
        case "stale" | "leaked":
            return judge.counts[limit.name] if judge.evidence(limit.name) else None
        case "hit_rate":
            return 1 - figures.share("tier.miss") if figures.answers else None
        case name if figures.count(limit.group):
            return figures.latencies[limit.group].percentile_ms(PERCENTILES[name])
        case _:
            return None
