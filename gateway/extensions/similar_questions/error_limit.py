"""Whether the answers of similar questions may be served: the test of one tenant's limit; pure.

Pairs of questions count if they pass the guards and have a similarity of `SIMILARITY_MIN` or more.
The tier verifies what it would serve, and bets that less than error_max of it is wrong. The stake
begins at 1. Each right answer multiplies it by (1 - error_max / 4) / (1 - error_max), each wrong
one by 1 / 4. If error_max or more of the answers are wrong, the stake does not grow on average, so
the chance that it ever reaches 20 is at most one in twenty, however often one looks. Answers are
served while it is 20 or more: at a limit of 1 % after 397 right ones in a row, and after 184 more
for each wrong one.

Source: Ville's inequality, for the bet of Wald's sequential test (Annals of Mathematical
Statistics, 1945).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log, log1p

# Raise it with any change of guards, similarity model or fusion: old counts become invalid.
RULES = "semantic-4"

# Serves most within a limit of 1 %: docs/design/sharing.md#similar-questions-where-they-were-right.
SIMILARITY_MIN = 0.93
SERVED_WRONG_TOP = 3  # the served top hit has to be among so many of the real ones

# The counts halve when their number times the limit is as great: what was right long ago counts
# less, and a stream that turns wrong is noticed soon. From the replays named above.
EVIDENCE_MAX = 24.0
VERIFIED_SHARE = 0.1  # of served answers, verified in the background; a starting value
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


def is_wrong(served: Sequence[int], real: Sequence[int]) -> bool:
    """Whether the served answer was wrong, judged by the real one; hits are best first."""
    if not served or not real:
        return bool(served or real)
    common = set(served) & set(real)
    return served[0] not in real[:SERVED_WRONG_TOP] or 2 * len(common) < len(real)
