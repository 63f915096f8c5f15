"""Keeps answers that are in this process's memory alone correct while their tenant changes.

An answer that takes less time to compute than to look up in Redis is not stored there, so no drain
looks after it. Its tenant's registry in this process does, by the same rules as in Redis, and more
simply, because each step below is one step of the event loop:
  1. All registered answers of a tenant are correct at the revisions that the registry has reached,
     or at the later ones that they were computed at.
  2. An answer is registered only if it was computed at these revisions or later ones (`add`).
  3. To reach later revisions, the changes in between are read, and then, in one step, the answers
     that they invalidate are dropped and the revisions rise (`apply`).
  4. All of this holds in one history; an answer or a change of another one begins a new registry.
  5. An answer is served by what its own computation depends on. Memory may hold the answer of
     another computation under the same key by now, so each computation has a number.
  6. A computed answer waits until its tenant changes; before the changes are applied it is encoded
     and registered. So an answer costs that only where somebody writes.
  7. The registry knows the audience revisions at the revisions that it has reached, by which the
     keys of those who see the same are told apart (`cache/protocol.py`).
"""

import asyncio
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic

from cache.errors import ChangeFeedUnavailable
from cache.invalidation.drain import ChangeFeed
from cache.invalidation.registry_replica import DependencyIndex, N
from cache.protocol import Revisions
from common.shares.cache import FairCache

# Registered ones of all tenants together, 3 to 5 kB each, and as many that wait. Starting values,
# not measured.
ANSWERS_MAX = 20_000
TENANT_ANSWERS_MAX = 2_000
STEP_ANSWERS = 64  # that are registered in one step of the event loop, 30 µs each
_TENANT_WEIGHT = 50  # in answers: the arrays of a registry, of which the first answer needs 64 rows


@dataclass(frozen=True, slots=True)
class _Registered:
    """computation: the number of the one that gave the answer."""

    computation: int
    as_of: Revisions


@dataclass(frozen=True, slots=True)
class _Waiting:
    """An answer to register. encode: gives the record of what it depends on."""

    computation: int
    as_of: Revisions
    encode: Callable[[], bytes]


class LocalRegistry(Generic[N]):
    """The answers of one tenant, by what invalidates them. catching_up: while changes are read.

    answers_max: beyond it the oldest is dropped; None for answers that are pinned.
    """

    def __init__(
        self,
        new_index: Callable[[], DependencyIndex[N]],
        answers_max: int | None = TENANT_ANSWERS_MAX,
    ) -> None:
        self.catching_up = asyncio.Lock()
        self._new_index = new_index
        self._answers_max = answers_max
        self._history = ""
        self._reached: dict[str, int] = {}
        self._audiences: dict[str, int] = {}
        self._answers: dict[str, _Registered] = {}
        self._index = new_index()

    def __len__(self) -> int:
        return len(self._answers)

    def add(self, key: str, computation: int, as_of: Revisions, record: bytes) -> bool:
        """Register an answer that was computed at `as_of`; False if changes since are applied."""
        if as_of.history != self._history:
            self._begin(as_of.history)
        # Answers that are registered do not depend on a partition that is not here yet.
        reached = {**as_of.by_partition, **self._reached}
        if any(revision < reached[name] for name, revision in as_of.by_partition.items()):
            return False
        new = {name: n for name, n in as_of.audiences.items() if name not in self._reached}
        self._reached, self._audiences = reached, {**self._audiences, **new}
        self.discard(key)
        self._answers[key] = _Registered(computation, as_of)
        self._index.add(key, record)
        if self._answers_max is not None and len(self) > self._answers_max:
            self.discard(next(iter(self._answers)))
        return True

    def discard(self, key: str) -> None:
        if self._answers.pop(key, None) is not None:
            self._index.discard(key)

    @property
    def reached(self) -> Revisions:
        """The revisions up to which changes are applied."""
        return Revisions(self._history, self._reached, self._audiences)

    def valid_until(self, key: str, computation: int) -> Revisions | None:
        """The revisions up to which the computation's answer is correct; None if unregistered."""
        registered = self._answers.get(key)
        if registered is None or registered.computation != computation:
            return None
        reached, as_of = self._reached, registered.as_of
        return Revisions(
            self._history,
            {name: max(number, reached[name]) for name, number in as_of.by_partition.items()},
            {
                name: self._audiences[name] if reached[name] > as_of.by_partition[name] else number
                for name, number in as_of.audiences.items()
                if name in self._audiences
            },
        )

    def apply(self, change_sets: Sequence[N], since: Revisions) -> set[str]:
        """Drop the answers that the changes invalidate, and return their keys.

        since: from which the changes were read.
        """
        dropped: set[str] = set()
        for changes in change_sets:
            name, revision = changes.partition, changes.revision
            is_next = self._reached.get(name) == since.by_partition[name]
            if not is_next or not changes.history == self._history == since.history:
                continue  # the registry has begun anew meanwhile
            for key in self._index.invalidated(changes):
                if self._answers[key].as_of.by_partition.get(name, revision) < revision:
                    self.discard(key)
                    dropped.add(key)
            self._reached = {**self._reached, name: revision}
            audiences = {other: n for other, n in self._audiences.items() if other != name}
            if changes.audience_revision is not None:
                audiences[name] = changes.audience_revision
            self._audiences = audiences
        return dropped

    def clear(self) -> None:
        self._begin("")

    def _begin(self, history: str) -> None:
        self._history = history
        self._reached = {}
        self._audiences = {}
        self._answers = {}
        self._index = self._new_index()


class LocalInvalidation(Generic[N]):
    """The registries of tenants, and the answers that wait for them.

    For lack of room the tenant with the most loses its registry, or answers that wait.
    """

    def __init__(
        self, change_feed: ChangeFeed[N], new_index: Callable[[], DependencyIndex[N]]
    ) -> None:
        self._change_feed = change_feed
        self._new_index = new_index
        self._registries: FairCache[str, LocalRegistry[N]] = FairCache(
            ANSWERS_MAX, lambda registry: len(registry) + _TENANT_WEIGHT
        )
        self._waiting: FairCache[str, _Waiting] = FairCache(ANSWERS_MAX)

    def add(
        self, tenant: str, key: str, computation: int, as_of: Revisions, encode: Callable[[], bytes]
    ) -> None:
        """Let an answer wait that was computed at `as_of`."""
        self._waiting.put(tenant, key, _Waiting(computation, as_of, encode))

    def discard(self, tenant: str, key: str) -> None:
        self._waiting.pop(key)
        registry = self._registries.get(tenant)
        if registry is not None:
            registry.discard(key)

    def clear(self) -> None:
        self._waiting.clear()
        self._registries.clear()

    async def valid_until(
        self, tenant: str, key: str, computation: int, revisions: Revisions
    ) -> Revisions | None:
        """Apply the tenant's changes up to `revisions`; None if the answer is not correct there."""
        registry = self._registries.get(tenant)
        if registry is None:
            registry = LocalRegistry(self._new_index)
            self._registries.put(tenant, tenant, registry)
        waiting = self._waiting.get(key)
        if waiting is not None and waiting.computation == computation:
            valid_until: Revisions | None = waiting.as_of
        else:
            valid_until = registry.valid_until(key, computation)
        if valid_until is not None and not valid_until.reach(revisions):
            async with registry.catching_up:
                await self._catch_up(tenant, registry, revisions)
            if self._registries.get(tenant) is not registry:
                return None  # it was dropped meanwhile
            valid_until = registry.valid_until(key, computation)
        is_valid = valid_until is not None and valid_until.reach(revisions)
        return valid_until if is_valid else None

    async def _catch_up(
        self, tenant: str, registry: LocalRegistry[N], revisions: Revisions
    ) -> None:
        while self._register(tenant, registry, STEP_ANSWERS):
            await asyncio.sleep(0)
        since = registry.reached
        if since.history != revisions.history:
            return
        try:
            change_sets = [
                await self._change_feed.changes_after(
                    tenant,
                    name,
                    since.by_partition[name],
                    revisions.of([name]).without_audiences(),
                )
                for name, revision in revisions.by_partition.items()
                if since.by_partition.get(name, revision) < revision
            ]
        except ChangeFeedUnavailable:
            return
        if None in change_sets:  # a change is no longer stored, or they are too many
            registry.clear()
            return
        self._register(tenant, registry, TENANT_ANSWERS_MAX)  # those of the meantime
        registry.apply([each for each in change_sets if each is not None], since)

    def _register(self, tenant: str, registry: LocalRegistry[N], count: int) -> int:
        """Register at most `count` of the answers that wait; return how many those were."""
        keys = list(itertools.islice(self._waiting.of_tenant(tenant), count))
        for key in keys:
            waiting = self._waiting.pop(key)
            if waiting is not None:
                registry.add(key, waiting.computation, waiting.as_of, waiting.encode())
        self._registries.put(tenant, tenant, registry)  # weighed anew; others may be evicted
        return len(keys)
