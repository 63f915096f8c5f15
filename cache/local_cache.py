"""Answers in this process (L1): bytes, with the revisions up to which they are known good."""

from dataclasses import dataclass

from cachetools import LRUCache

from cache.protocol import Revisions

_OVERHEAD_BYTES = 600  # of one entry beside its body, measured with sys.getsizeof over its parts


@dataclass(frozen=True, slots=True)
class LocalEntry:
    """A body and the revision of each partition up to which it is right.

    A fact that stays true, for it names the history that the revisions are of.
    """

    body: bytes
    valid_until: Revisions


class LocalCache:
    """The least recently used answers go first once `size_bytes_max` is reached."""

    def __init__(self, size_bytes_max: int) -> None:
        self._answers: LRUCache[str, LocalEntry] = LRUCache(
            size_bytes_max, getsizeof=lambda known: len(known.body) + _OVERHEAD_BYTES
        )

    def get(self, key: str, revisions: Revisions) -> LocalEntry | None:
        """The answer, if it is known to be good at these revisions."""
        known = self._answers.get(key)
        return known if known is not None and known.valid_until.reach(revisions) else None

    def put(self, key: str, known: LocalEntry) -> None:
        if len(known.body) + _OVERHEAD_BYTES <= self._answers.maxsize:
            self._answers[key] = known

    def drop(self, key: str) -> None:
        self._answers.pop(key, None)
