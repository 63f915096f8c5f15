"""The state of a tenant's vocabulary, as a number that changes with it."""

from dataclasses import dataclass
from typing import TypeAlias

_ERA_BITS = 40  # the lower bits count the added words, the upper ones prunings: sql/vocabulary.sql

Era: TypeAlias = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Extent:
    """The state of a tenant's vocabulary: equal extents of a tenant mean equal vocabularies.

    history: of the database. words: the number of entries, and how often some were pruned.
    """

    history: str
    words: int

    @property
    def era(self) -> Era:
        """The history and the number of prunings: within an era the vocabulary only grows."""
        return self.history, self.words >> _ERA_BITS
