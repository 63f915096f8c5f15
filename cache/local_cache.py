"""The answer cache of this process (L1): bytes, with the revisions up to which they are correct."""

from dataclasses import dataclass

from cache.protocol import Revisions
from common.shares.cache import FairCache

_OVERHEAD_BYTES = 600  # an entry without its body, measured with sys.getsizeof over its parts


@dataclass(frozen=True, slots=True)
class LocalEntry:
    """A body and the revision of each partition up to which it is correct.

    This stays true forever, because the revisions name their history.
    computation: the number of the computation of this process that gave the body; 0 if none did.
    """

    body: bytes
    valid_until: Revisions
    computation: int = 0


class LocalCache:
    """The answers of all tenants; that of the tenant with the most bytes gives way."""

    def __init__(self, size_bytes_max: int) -> None:
        self._answers: FairCache[str, LocalEntry] = FairCache(
            size_bytes_max, lambda entry: len(entry.body) + _OVERHEAD_BYTES
        )

    def get(self, key: str, revisions: Revisions) -> LocalEntry | None:
        """The answer, if it is correct at these revisions."""
        entry = self._answers.get(key)
        return entry if entry is not None and entry.valid_until.reach(revisions) else None

    def __contains__(self, key: str) -> bool:
        """Whether there is an answer, correct at whatever revisions."""
        return key in self._answers

    def entry(self, key: str) -> LocalEntry | None:
        """The answer, correct at whatever revisions."""
        return self._answers.get(key)

    def put(self, tenant: str, key: str, entry: LocalEntry) -> None:
        """tenant: of the callers that the answer is for."""
        self._answers.put(tenant, key, entry)

    def drop(self, key: str) -> None:
        self._answers.pop(key)

    def clear(self) -> None:
        self._answers.clear()
