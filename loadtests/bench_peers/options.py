"""The options of the comparison with other systems."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from loadtests.bench.frame import Run, option
from loadtests.bench_peers.systems.line_up import OTHERS


@dataclass(frozen=True, slots=True)
class PeersOptions:
    """peer: the systems beside Nearhit; all of them if empty.

    rows: of all tenants together. small_rows: of the small index.
    checks: rows that each system edits, and rows that it withdraws.
    settle_s: how long the filled systems are left alone before the first question.
    """

    peer: Sequence[str] = option(
        (), "compare with this system; may be repeated", choices=list(OTHERS)
    )
    rows: int = option(30_000, "rows of all tenants together", quick=2_000)
    small_rows: int = option(2_000, "rows of all tenants together, in the small index", quick=500)
    rounds: int = option(5, "turns of each system, after one to warm up", quick=1)
    seconds: float = option(3.0, "seconds of each turn")
    questions: int = option(400, "questions for quality", quick=100)
    checks: int = option(50, "rows to edit, and rows to withdraw, in each system", quick=10)
    settle_s: float = option(90.0, "seconds between filling and the first question", quick=0.0)


PeersRun: TypeAlias = Run[PeersOptions]
