"""The first tier: the answers of this process, and the changes that invalidate them."""

import itertools
from dataclasses import replace
from typing import Any

from cache.invalidation.drain import CountEvent
from cache.invalidation.local_registry import LocalInvalidation
from cache.local_cache import LocalCache, LocalEntry
from cache.lookup import ServedAnswer
from cache.protocol import Revisions
from cache.tiers.tier import LookupRun


class MemoryTier:
    def __init__(
        self, answers: LocalCache, invalidation: LocalInvalidation[Any], count: CountEvent
    ) -> None:
        self._answers = answers
        self._invalidation = invalidation
        self._count = count
        self._computations = itertools.count(1)

    def __contains__(self, key: str) -> bool:
        """Whether there is an answer, correct at whatever revisions."""
        return key in self._answers

    def find(self, key: str, revisions: Revisions) -> ServedAnswer | None:
        """The answer that is known to be correct at these revisions; nothing is read for it."""
        entry = self._answers.get(key, revisions)
        return None if entry is None else _served(entry, key)

    async def look(self, run: LookupRun) -> ServedAnswer | None:
        """Also an answer of earlier revisions, if no change since invalidates it.

        The changes are read for answers that this process alone holds; Redis tells of all others.
        """
        lookup, revisions = run.lookup, run.revisions
        entry = self._answers.entry(lookup.key)
        if entry is None or entry.valid_until.reach(revisions):
            return None if entry is None else _served(entry, lookup.key)
        if lookup.is_shared:
            return None
        valid_until = await self._invalidation.valid_until(
            lookup.tenant, lookup.key, entry.computation, revisions
        )
        if valid_until is None:
            return None
        self._count("revalidated")
        entry = replace(entry, valid_until=valid_until)
        self._answers.put(lookup.tenant, lookup.key, entry)
        return _served(entry, lookup.key)

    async def keep(self, run: LookupRun, served: ServedAnswer) -> ServedAnswer:
        lookup, answer = run.lookup, run.keepable
        if answer is not None:
            computation = next(self._computations)
            entry = LocalEntry(answer.body, answer.as_of, computation)
            self._answers.put(lookup.tenant, lookup.key, entry)
            if not lookup.is_shared and answer.record:  # else Redis holds what invalidates it
                self._invalidation.add(
                    lookup.tenant, lookup.key, computation, answer.as_of, answer.record
                )
        elif served.tier == "redis":
            entry = LocalEntry(served.body, served.valid_until)
            self._answers.put(lookup.tenant, lookup.key, entry)
        return served

    def drop(self, tenant: str, key: str) -> None:
        self._answers.drop(key)
        self._invalidation.discard(tenant, key)

    def clear(self) -> None:
        self._answers.clear()
        self._invalidation.clear()


def _served(entry: LocalEntry, key: str) -> ServedAnswer:
    return ServedAnswer(entry.body, entry.valid_until, "memory", key)
