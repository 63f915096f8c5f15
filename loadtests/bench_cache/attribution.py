"""Whose doing it is that answers were dropped: what each write took, and what one chunk took."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean


@dataclass(frozen=True, slots=True)
class DroppedByWrite:
    """What one write took of the live answers.

    in_vain:  dropped, though computed anew they are the same bytes.
    inserted: chunks that the write added; what it removed is laid at their door too.
    """

    live: int
    dropped: int
    in_vain: int
    inserted: int

    @property
    def share(self) -> float:
        return self.dropped / self.live


def share_by_write(taken: Sequence[DroppedByWrite]) -> float:
    """The mean share of the live answers that one write dropped."""
    return fmean(each.share for each in taken)


def share_by_chunk(taken: Sequence[DroppedByWrite]) -> float:
    """The mean over the writes that inserted chunks of the share dropped for each such chunk."""
    return fmean(each.share / each.inserted for each in taken if each.inserted)


def share_by_chunk_pooled(taken: Sequence[DroppedByWrite]) -> float:
    """All that those writes dropped, over all that they inserted: long documents count for more."""
    inserting = [each for each in taken if each.inserted]
    return sum(each.share for each in inserting) / sum(each.inserted for each in inserting)


def share_in_vain(taken: Sequence[DroppedByWrite]) -> float:
    """Of all that was dropped."""
    dropped = sum(each.dropped for each in taken)
    return sum(each.in_vain for each in taken) / dropped if dropped else 0.0
