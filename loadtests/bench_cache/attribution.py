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
    return fmean(write.share for write in taken)


def share_by_chunk(taken: Sequence[DroppedByWrite]) -> float:
    """The mean over the writes that inserted chunks of the share dropped for each such chunk."""
    return fmean(write.share / write.inserted for write in taken if write.inserted)


def share_by_chunk_pooled(taken: Sequence[DroppedByWrite]) -> float:
    """All that those writes dropped, over all that they inserted: long documents count for more."""
    inserting = [write for write in taken if write.inserted]
    return sum(write.share for write in inserting) / sum(write.inserted for write in inserting)


def share_in_vain(taken: Sequence[DroppedByWrite]) -> float:
    """Of all that was dropped."""
    dropped = sum(write.dropped for write in taken)
    return sum(write.in_vain for write in taken) / dropped if dropped else 0.0
