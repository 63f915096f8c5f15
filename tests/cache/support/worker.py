"""One process's cache, and the truth that it is to keep up with."""

import asyncio
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from cache.answers import Answers
from cache.errors import ChangeFeedUnavailable
from cache.invalidation.drain import Invalidation
from cache.invalidation.local_registry import LocalInvalidation
from cache.invalidation.registry_replica import NewQuestions, RegistryReplicas
from cache.lookup import CacheLookup, Compute, ServedAnswer
from cache.protocol import Revisions
from cache.redis.store import RedisStore
from cache.tiers.tier import Tier
from tests.cache.support.histories import HISTORY, at


@dataclass(frozen=True, slots=True)
class Changed:
    """The things that the changes of a partition up to a revision touched; None for all."""

    history: str
    partition: str
    revision: int
    things: frozenset[bytes] | None
    audience_revision: int | None = None


class FakeChangeLog:
    """Stands for PostgreSQL: of each change of a partition, the things that it touched.

    An entry's record lists the things that it depends on, parted by blanks.
    """

    def __init__(self, **revisions: int) -> None:
        self.history = HISTORY
        self.revisions = revisions
        self.changes: dict[tuple[str, int], frozenset[bytes] | None] = {}
        self.forgotten = 0
        self.is_away = False
        self.asked = 0
        self.answers = asyncio.Event()  # cleared while it is silent
        self.answers.set()

    def commit(self, partition: str, *things: bytes) -> int:
        """The revision that it makes; a change of no named thing touches everything."""
        self.revisions[partition] += 1
        self.changes[partition, self.revisions[partition]] = frozenset(things) or None
        return self.revisions[partition]

    async def changes_after(
        self, _tenant: str, partition: str, revision: int, _required: Revisions
    ) -> Changed | None:
        self.asked += 1
        await self.answers.wait()
        if self.is_away:
            raise ChangeFeedUnavailable
        if revision < self.forgotten:
            return None
        reached = self.revisions[partition]
        new = [self.changes[partition, at] for at in range(revision + 1, reached + 1)]
        things = None if None in new else frozenset[bytes]().union(*filter(None, new))
        return Changed(self.history, partition, reached, things)

    async def has_reached(self, revisions: Revisions) -> bool:
        self.asked += 1
        if self.is_away:
            raise ChangeFeedUnavailable
        if at(**self.revisions).reach(revisions):
            return True
        self.history += "0"
        return False


class FakeDependencyIndex:
    def __init__(self) -> None:
        self.records: dict[str, frozenset[bytes]] = {}

    def add(self, key: str, record: bytes) -> None:
        self.records[key] = frozenset(record.split())

    def discard(self, key: str) -> None:
        self.records.pop(key, None)

    def invalidated(self, news: Changed) -> Collection[str]:
        return [key for key, needed in self.records.items() if _hits(needed, news.things)]


def _hits(needed: frozenset[bytes], changed: Iterable[bytes] | None) -> bool:
    return not needed or changed is None or not needed.isdisjoint(changed)


class CacheWorker:
    """A cache over a store and a truth that others may share, and what it counted.

    comparing: makes the tier of an extension.
    """

    def __init__(
        self,
        store: RedisStore,
        truth: FakeChangeLog,
        *,
        drops_max: int = 1_000,
        new_questions: NewQuestions | None = None,
        comparing: Callable[[RegistryReplicas[Changed]], Tier] | None = None,
    ) -> None:
        self.events: list[str] = []
        self.mirrors: RegistryReplicas[Changed] = RegistryReplicas(
            store, FakeDependencyIndex, new_questions
        )
        self.drains_s: list[float] = []
        self.invalidation = Invalidation(
            store, self.mirrors, truth, self.count, self.drains_s.append, drops_max=drops_max
        )
        local = LocalInvalidation(truth, FakeDependencyIndex)
        tier = None if comparing is None else comparing(self.mirrors)
        self.answers = Answers(1_000_000, store, self.invalidation, local, self.count, tier)

    async def ask(self, key: str, index: Compute, **revisions: int) -> ServedAnswer:
        """Of acme, what no other question may answer."""
        return await self.answers.get_or_compute(CacheLookup("acme", key), at(**revisions), index)

    async def ask_locally(self, key: str, index: Compute, **revisions: int) -> ServedAnswer:
        """As `ask`, what is not worth a look at Redis."""
        lookup = CacheLookup("acme", key, is_shared=False)
        return await self.answers.get_or_compute(lookup, at(**revisions), index)

    def count(self, event: str, amount: int = 1) -> None:
        self.events += [event] * amount
