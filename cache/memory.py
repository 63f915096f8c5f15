"""Answers in this process (L1): bytes, with the revisions up to which they are known good."""

from collections.abc import Mapping
from dataclasses import dataclass

from cachetools import LRUCache

_OVERHEAD_BYTES = 600  # of one entry beside its body, measured with sys.getsizeof over its parts


@dataclass(frozen=True, slots=True)
class Known:
    """A body and the revision of each partition up to which it is right: a fact that stays true."""

    body: bytes
    good: Mapping[str, int]

    def holds_at(self, revisions: Mapping[str, int]) -> bool:
        good = self.good
        return all(good.get(name, -1) >= revision for name, revision in revisions.items())


class Memory:
    """The least recently used answers go first once `size_bytes_max` is reached."""

    def __init__(self, size_bytes_max: int) -> None:
        self._answers: LRUCache[str, Known] = LRUCache(
            size_bytes_max, getsizeof=lambda known: len(known.body) + _OVERHEAD_BYTES
        )

    def get(self, key: str, revisions: Mapping[str, int]) -> Known | None:
        """The answer, if it is known to be good at these revisions."""
        known = self._answers.get(key)
        return known if known is not None and known.holds_at(revisions) else None

    def put(self, key: str, known: Known) -> None:
        if len(known.body) + _OVERHEAD_BYTES <= self._answers.maxsize:
            self._answers[key] = known

    def drop(self, key: str) -> None:
        self._answers.pop(key, None)
