"""What a comparison is given."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console


@dataclass(frozen=True, slots=True)
class Bench:
    """data: the folder of the sets, or None for made-up passages. only: the others; all if empty.

    rows:      of all tenants together.
    questions: that quality is measured with, and as many never asked before for similar ones.
    checks:    rows edited, and as many withdrawn, by each system.
    seconds:   of each turn. settle_s: in which filled systems are left alone.
    """

    data: Path | None
    console: Console
    only: Sequence[str]
    rows: int
    rounds: int
    seconds: float
    questions: int
    checks: int
    settle_s: float
