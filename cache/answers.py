"""Gets an answer from the first tier that has it, and lets the tiers before keep it.

The orders of the tiers are data, and `_tiers_of` says which of them a lookup passes.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from cache.invalidation.drain import CountEvent, Invalidation
from cache.invalidation.local_registry import LocalInvalidation
from cache.lookup import CacheLookup, Compute, ComputedAnswer, ServedAnswer
from cache.protocol import Revisions
from cache.redis.store import RedisStore
from cache.singleflight import Singleflight
from cache.tiers.compute import ComputeTier
from cache.tiers.memory import MemoryTier
from cache.tiers.redis import RedisTier
from cache.tiers.tier import LookupRun, Tier

_BACKGROUND_MAX = 4  # concurrent verifications in the background


class Answers:
    """`count` receives the tier of each answer, and the events computed, waited, stored, refused,
    oversized, reset, revalidated, audiences_changed, unverified, and unavailable when Redis does
    not answer.

    comparing: the tier of an extension, if there is one, for lookups with a question.
    """

    def __init__(
        self,
        memory_bytes_max: int,
        store: RedisStore,
        invalidation: Invalidation[Any],
        local_invalidation: LocalInvalidation[Any],
        count: CountEvent,
        comparing: Tier | None = None,
    ) -> None:
        self._count = count
        self.memory = MemoryTier(memory_bytes_max, local_invalidation, count)
        self._redis = RedisTier(store, invalidation, count)
        self._compute = ComputeTier(self._redis, invalidation, count, self._run_in_background)
        # In the order in which they are asked; each keeps what a later one or computing has given.
        self._local: Sequence[Tier] = (self.memory,)
        self._shared: Sequence[Tier] = (self.memory, self._redis)
        self._comparing = self._shared if comparing is None else (*self._shared, comparing)
        self._flights: Singleflight[ServedAnswer] = Singleflight()
        self._computing_first: set[str] = set()  # keys of answers
        self._background: set[asyncio.Task[None]] = set()

    def recall(self, key: str, revisions: Revisions) -> ServedAnswer | None:
        """The answer from memory, or None."""
        served = self.memory.find(key, revisions)
        return None if served is None else self._count_tier(served)

    def recall_same(self, key: str, valid_until: Revisions) -> ServedAnswer | None:
        """The answer from memory, if it is correct until the same revisions as when it was recalled
        last; else None.
        """
        entry = self.memory.entries.get(key)
        if entry is None or entry.served.valid_until is not valid_until:
            return None
        self._count("memory")
        return entry.served

    async def compute_first(
        self,
        lookup: CacheLookup,
        key_revisions: Revisions,
        compute: Callable[[], Coroutine[Any, Any, ComputedAnswer | None]],
    ) -> ServedAnswer | None:
        """An answer that no tier is asked for, at no revision: `compute` proves its own.

        key_revisions: with the audience revisions that the key was made at, if it depends on them.
        None if memory has one, at whatever revisions, if another caller computes it, or if
        `compute` returns none.
        """
        key = lookup.key
        if key in self.memory.entries or key in self._computing_first:
            return None
        self._computing_first.add(key)
        try:
            answer = await compute()
        finally:
            self._computing_first.discard(key)
        if answer is None:
            return None
        self._count("computed")
        run = LookupRun(lookup, key_revisions, computed=answer)
        return self._count_tier(await self.memory.keep(run, self._compute.served(run, answer)))

    async def get_or_compute(
        self, lookup: CacheLookup, revisions: Revisions, compute: Compute
    ) -> ServedAnswer:
        """An answer that is correct at `revisions`, which name all that it depends on.

        Callers who see the same share a computation. If the audiences have changed meanwhile, they
        may no longer see the same, and its answer is for callers with the computing one's grants:
          1. A and B see the same at revision 5, and wait for one computation with the grants of A.
          2. A commit gives A a document that B may not see, at revision 6.
          3. The computation reads its rows at revision 6. It returns the answer of A alone, which
             is stored nowhere, and B computes its own.
        """
        served = self.recall(lookup.key, revisions)
        if served is not None:
            return served
        # A caller with newer revisions must not join an older flight, and a caller without a
        # question must not join a flight that may return another question's answer.
        numbers = (*revisions.by_partition.values(), *revisions.audiences.values())
        flight = (lookup.key, lookup.question is None, revisions.history, *numbers)
        run = LookupRun(lookup, revisions, compute)
        served = await self._flights.do(flight, lambda: self._pass_tiers(run))
        if served.key not in (lookup.key, lookup.own_key):
            return await self.get_or_compute(lookup.alone, revisions.without_audiences(), compute)
        return self._count_tier(served)

    async def drop(self, tenant: str, key: str) -> None:
        """Drop an answer from memory and from Redis."""
        self.memory.drop(tenant, key)
        await self._redis.drop(tenant, key)

    def drop_local(self) -> None:
        """Drop all answers from memory."""
        self.memory.clear()

    async def drain_background(self) -> None:
        """Wait until all background work has ended."""
        await asyncio.gather(*self._background, return_exceptions=True)

    def _count_tier(self, served: ServedAnswer) -> ServedAnswer:
        self._count(served.tier)
        return served

    async def _pass_tiers(self, run: LookupRun) -> ServedAnswer:
        """The answer of the first tier that has it; if none has, it is computed."""
        try:
            passed: list[Tier] = []
            for tier in self._tiers_of(run.lookup):
                served = await tier.look(run)
                if served is not None:
                    break
                passed.append(tier)
            else:
                served = await self._compute.look(run)
            if run.is_sampled:
                self._verify_later(run)
            return await self._keep(run, served, passed)
        finally:
            self._release(run)

    def _tiers_of(self, lookup: CacheLookup) -> Sequence[Tier]:
        if not lookup.is_shared:  # it takes less time to compute than to look up in Redis
            return self._local
        return self._shared if lookup.question is None else self._comparing

    async def _keep(
        self, run: LookupRun, served: ServedAnswer, passed: Sequence[Tier]
    ) -> ServedAnswer:
        for tier in passed:
            served = await tier.keep(run, served)
        run.is_stored = served.stored
        return served

    def _release(self, run: LookupRun) -> None:
        """Let another process compute the answer, unless this run has stored it."""
        if self._redis.holds_lock(run) and not run.is_stored:
            self._run_in_background(self._redis.release(run))

    def _verify_later(self, run: LookupRun) -> None:
        """Compute the answer in the background, if there is room, beside the one that is served."""
        if len(self._background) < _BACKGROUND_MAX:
            real = LookupRun(run.lookup, run.revisions, run.compute, found=run.found)
            self._run_in_background(self._verify(real))

    async def _verify(self, run: LookupRun) -> None:
        run.snapshot = await self._redis.snapshot(run)
        served = await self._compute.compute(run)
        await self._keep(run, served, self._comparing)

    def _run_in_background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._on_background_done)
        return task

    def _on_background_done(self, task: asyncio.Task[None]) -> None:
        self._background.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._count("unverified")
