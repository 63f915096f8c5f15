"""Whether the answers of similar questions may be served: the test of one tenant's limit; pure.

Pairs of questions that pass the guards and are as similar as `SIMILARITY_MIN` count. What the tier
would serve is verified, and the counts are a bet against `more than error_max of it is wrong`: of
a stake of 1, each right answer makes (1 - error_max / 4) / (1 - error_max) times as much, and each
wrong one a quarter. If at least error_max of the answers are wrong, the stake grows on average
never, so it ever reaches 20 with a chance of at most one in twenty, however often one looks.
Answers are served while the stake is at 20 or more: at a limit of 1 % from 397 right ones in a row
on, and 184 more for each wrong one.

Source: Ville's inequality, for the bet of Wald's sequential test (Annals of Mathematical
Statistics, 1945).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import ceil, log, log1p

# Raise it with any change of guards, similarity model or fusion: old counts become invalid.
RULES = "semantic-3"

SIMILARITY_MIN = 0.93  # serves most within a limit of 1 %: see docs/decisions/0011
SERVED_WRONG_TOP = 3  # the served top hit has to be among so many of the real ones

# The counts halve when their number times the limit is as great: what was right long ago counts
# less, and a stream that turns wrong is noticed soon. From the replays of docs/decisions/0011.
EVIDENCE_MAX = 24.0
_OPEN_SAMPLE = 0.1  # of served answers, which are verified behind them; a starting value
_STAKE_MIN = 20.0
_WRONG_FACTOR = 0.25
_MISSING_MAX = 1e15  # under the smallest limits; an integer of JSON holds it


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Pairs of similar questions: seen; of their answers, the served, verified and wrong ones."""

    seen: int = 0
    served: int = 0
    verified: int = 0
    wrong: int = 0

    def __add__(self, other: "PairCounts") -> "PairCounts":
        return PairCounts(
            self.seen + other.seen,
            self.served + other.served,
            self.verified + other.verified,
            self.wrong + other.wrong,
        )


def missing_right(counts: PairCounts, error_max: float) -> int:
    """How many right answers in a row are missing until answers may be served; 0 if they may be.

    error_max: greater than 0.
    """
    growth = log1p(-_WRONG_FACTOR * error_max) - log1p(-error_max)
    needed = (log(_STAKE_MIN) - counts.wrong * log(_WRONG_FACTOR)) / growth
    return max(ceil(min(needed, _MISSING_MAX)) - (counts.verified - counts.wrong), 0)


def sample_share(*, is_open: bool) -> float:
    """The share of pairs to verify: all while the real answer is computed anyway."""
    return _OPEN_SAMPLE if is_open else 1.0


def is_wrong(served: Sequence[int], real: Sequence[int]) -> bool:
    """Whether the served answer was wrong, judged by the real one; hits are best first."""
    if not served or not real:
        return bool(served or real)
    return served[0] not in real[:SERVED_WRONG_TOP] or 2 * _common(served, real) < len(real)


def _common(served: Collection[int], real: Collection[int]) -> int:
    return len(set(served) & set(real))
