"""What each problem type means and what to do about it, as `problem_types.toml` says.

`tests/docs/test_problems.py` compares the list with the problems that the gateway makes.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PREFIX = "urn:nearhit:problem:"


@dataclass(frozen=True, slots=True)
class ProblemType:
    """statuses: with which it occurs. cause, remedy: sentences for the caller's developer."""

    kind: str
    statuses: tuple[int, ...]
    title: str
    cause: str
    remedy: str

    @property
    def urn(self) -> str:
        return PREFIX + self.kind


def _read() -> dict[str, ProblemType]:
    with (Path(__file__).parent / "problem_types.toml").open("rb") as file:
        rows = tomllib.load(file)
    return {
        kind: ProblemType(kind, tuple(row.pop("statuses")), **row) for kind, row in rows.items()
    }


BY_KIND: Mapping[str, ProblemType] = _read()
TYPES: Sequence[ProblemType] = tuple(BY_KIND.values())


def kind_of_status(status: int) -> ProblemType:
    """The first type that occurs with the status, which is the most general one."""
    return next(each for each in TYPES if status in each.statuses)
