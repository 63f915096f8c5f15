"""The budget of a run: a file of limits, and whether the run meets them. Pure but for the file.

[all]
p99_ms = 20
errors = 0.001
[tier.memory]
p99_ms = 2
[write]
p95_ms = 100
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadtests.load.figures import Figures
from loadtests.load.latencies import PERCENTILES
from loadtests.loadtest.judge import StalenessJudge

_SHARES = {"errors", "stale", "leaked"}  # in `all` only; the last two are counts of answers
_LEAST = {"hit_rate"}  # in `all` only, a minimum
_GROUPED = ("tier", "scope")
_WITHOUT_A_FILE: Mapping[str, Any] = {"all": {"errors": 0.001, "stale": 0, "leaked": 0}}


class InvalidBudget(Exception):
    """The file is invalid; the message says where."""


@dataclass(frozen=True, slots=True)
class Limit:
    """group: the group of requests in `Figures`. name: the figure."""

    group: str
    name: str
    value: float

    @property
    def is_least(self) -> bool:
        return self.name in _LEAST


@dataclass(frozen=True, slots=True)
class Finding:
    """measured: None if there was nothing to measure; then the limit is missed."""

    limit: Limit
    measured: float | None

    @property
    def held(self) -> bool:
        if self.measured is None:
            return False
        if self.limit.is_least:
            return self.measured >= self.limit.value
        return self.measured <= self.limit.value

    def as_json(self) -> dict[str, Any]:
        return {
            "of": self.limit.group,
            "figure": self.limit.name,
            "limit": self.limit.value,
            "measured": self.measured,
            "held": self.held,
        }


def read(file: Path | None) -> list[Limit]:
    """Without a file: no stale or leaked answer, and at most one error in a thousand requests.

    Raises `InvalidBudget`.
    """
    if file is None:
        return list(_limits(_WITHOUT_A_FILE))
    try:
        return list(_limits(tomllib.loads(file.read_text())))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidBudget(f"{file}: {error}") from None
    except InvalidBudget as error:
        raise InvalidBudget(f"{file}: {error}") from None


def judged(limits: list[Limit], figures: Figures, judge: StalenessJudge) -> list[Finding]:
    return [Finding(limit, _measured(limit, figures, judge)) for limit in limits]


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
            raise InvalidBudget(f"[{group}] is none of [all], [write], [tier.…] and [scope.…]")


def _of_table(group: str, limits: Any) -> Iterator[Limit]:
    names = {*PERCENTILES, *(_SHARES | _LEAST if group == "all" else ())}
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
            # Without any answer, nothing was checked.
            return judge.counts[limit.name] if judge.counts["judged"] else None
        case "hit_rate":
            return 1 - figures.share("tier.miss") if figures.count("all") else None
        case name if figures.count(limit.group):
            return figures.latencies[limit.group].percentile_ms(PERCENTILES[name])
        case _:
            return None
