"""The decayed number of a document's openings, and the level that searches rank by.

A level changes only when a roll-up stores another one, with a revision. So an answer needs no
clock, and one more opening of a document that many have opened changes nothing.

Pure.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from index.model.query_parts.boost import POPULARITY_LEVELS

HALF_LIFE_DAYS = 30  # a starting value, not measured


@dataclass(frozen=True, slots=True)
class DecayedCount:
    """openings: as of the end of `counted_on`, one of them a half-life before counting a half."""

    openings: float
    counted_on: date

    def with_openings(self, days: Sequence[date], today: date) -> "DecayedCount":
        """As of today, with further openings on these days."""
        return DecayedCount(
            self.openings * _share(self.counted_on, today)
            + sum(_share(day, today) for day in days),
            today,
        )

    @property
    def level(self) -> int:
        return math.floor(POPULARITY_LEVELS * math.log2(1 + self.openings) + 0.5)

    @property
    def falls_on(self) -> date:
        """The first day on which the level may be lower if it is not 0 and nothing is opened."""
        least = 2 ** ((self.level - 0.5) / POPULARITY_LEVELS) - 1
        days = HALF_LIFE_DAYS * math.log2(self.openings / least)
        return self.counted_on + timedelta(days=max(1, math.ceil(days)))


def _share(day: date, today: date) -> float:
    return math.exp2(-max(0, (today - day).days) / HALF_LIFE_DAYS)
