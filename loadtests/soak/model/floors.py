"""The revision of each partition that was last acknowledged, at any moment. Pure."""

from bisect import bisect_right
from collections import defaultdict


class Floors:
    def __init__(self) -> None:
        self._moments: dict[str, list[float]] = defaultdict(list)
        self._revisions: dict[str, list[int]] = defaultdict(list)

    def acknowledged(self, partition: str, revision: int, at_s: float) -> None:
        """Acknowledgements may arrive out of order; the highest revision counts."""
        revisions = self._revisions[partition]
        self._moments[partition].append(at_s)
        revisions.append(max(revision, revisions[-1] if revisions else 0))

    def one_more(self, partition: str, at_s: float) -> None:
        """Another commit was acknowledged, whose revision is not known."""
        revisions = self._revisions[partition]
        self.acknowledged(partition, (revisions[-1] if revisions else 0) + 1, at_s)

    def at(self, partition: str, at_s: float) -> int:
        position = bisect_right(self._moments[partition], at_s)
        return self._revisions[partition][position - 1] if position else 0
