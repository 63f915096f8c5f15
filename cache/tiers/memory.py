"""The first tier (L1): the answers of this process, and the changes that invalidate them."""

import itertools
from dataclasses import dataclass
from typing import Any

from cache.invalidation.drain import CountEvent
from cache.invalidation.local_registry import LocalInvalidation
from cache.lookup import CacheLookup, ServedAnswer
from cache.protocol import Revisions
from cache.tiers.tier import LookupRun
from common.shares.cache import FairCache

_OVERHEAD_BYTES = 600  # an entry without its body, measured with sys.getsizeof over its parts


@dataclass(frozen=True, slots=True)
class LocalEntry:
    """An answer as it is served from memory.

    It stays correct forever at its revisions, because they name their history.
    computation: the number of the computation of this process that gave the body; 0 if none did.
    """

    served: ServedAnswer
    computation: int = 0


class MemoryTier:
    """entries: by key, of all tenants; that of the tenant with the most bytes gives way."""

    def __init__(
        self, size_bytes_max: int, invalidation: LocalInvalidation[Any], count: CountEvent
    ) -> None:
        self.entries: FairCache[str, LocalEntry] = FairCache(
            size_bytes_max, lambda entry: len(entry.served.body) + _OVERHEAD_BYTES
        )
        self._invalidation = invalidation
        self._count = count
        self._computations = itertools.count(1)

    def find(self, key: str, revisions: Revisions) -> ServedAnswer | None:
        """The answer that is known to be correct at these revisions; nothing is read for it."""
        entry = self.entries.get(key)
        return entry.served if entry and entry.served.valid_until.reach(revisions) else None

    async def look(self, run: LookupRun) -> ServedAnswer | None:
        """Also an answer of earlier revisions, if no change since invalidates it.

        The changes are read for answers that this process alone holds; Redis tells of all others.
        """
        lookup, revisions = run.lookup, run.revisions
        entry = self.entries.get(lookup.key)
        if entry is None or entry.served.valid_until.reach(revisions):
            return None if entry is None else entry.served
        if lookup.is_shared:
            return None
        valid_until = await self._invalidation.valid_until(
            lookup.tenant, lookup.key, entry.computation, revisions
        )
        if valid_until is None:
            return None
        self._count("revalidated")
        return self._put(lookup, entry.served.body, valid_until, entry.computation)

    async def keep(self, run: LookupRun, served: ServedAnswer) -> ServedAnswer:
        lookup, answer = run.lookup, run.keepable
        if answer is not None:
            computation = next(self._computations)
            self._put(lookup, answer.body, answer.as_of, computation)
            if not lookup.is_shared:  # else Redis holds what invalidates it
                self._invalidation.add(
                    lookup.tenant, lookup.key, computation, answer.as_of, answer.record
                )
        elif served.tier == "redis":
            self._put(lookup, served.body, served.valid_until)
        return served

    def drop(self, tenant: str, key: str) -> None:
        self.entries.pop(key)
        self._invalidation.discard(tenant, key)

    def clear(self) -> None:
        self.entries.clear()
        self._invalidation.clear()

    def _put(
        self, lookup: CacheLookup, body: bytes, valid_until: Revisions, computation: int = 0
    ) -> ServedAnswer:
        served = ServedAnswer(body, valid_until, "memory", lookup.key)
        self.entries.put(lookup.tenant, lookup.key, LocalEntry(served, computation))
        return served
