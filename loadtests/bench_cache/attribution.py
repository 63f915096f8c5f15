"""The share of the live answers that a write drops, and that an inserted chunk drops."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean


@dataclass(frozen=True, slots=True)
class DroppedByWrite:
    """The answers that one write dropped.

    in_vain:  dropped although the new answer has the same bytes.
    inserted: chunks that the write added; all dropped answers are attributed to them.
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
    """The dropped shares divided by all inserted chunks, so that long documents weigh more."""
    inserting = [write for write in taken if write.inserted]
    return sum(write.share for write in inserting) / sum(write.inserted for write in inserting)


def share_in_vain(taken: Sequence[DroppedByWrite]) -> float:
    """The needless share of all dropped answers."""
    dropped = sum(write.dropped for write in taken)
    return sum(write.in_vain for write in taken) / dropped if dropped else 0.0
