"""The last tier computes the answer, here or in the process with the fill lock; it keeps none."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from cache import protocol
from cache.invalidation.drain import CountEvent, Invalidation
from cache.lookup import ComputedAnswer, ServedAnswer
from cache.tiers.redis import RedisTier
from cache.tiers.tier import LookupRun

_DRAIN_S_MAX = 0.3  # that an answer waits for a drain; a starting value, not measured


class ComputeTier:
    """redis: where another process's answer arrives. start: runs work in the background."""

    def __init__(
        self,
        redis: RedisTier,
        invalidation: Invalidation[Any],
        count: CountEvent,
        start: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
    ) -> None:
        self._redis = redis
        self._invalidation = invalidation
        self._count = count
        self._start = start

    async def look(self, run: LookupRun) -> ServedAnswer:
        if run.lookup.question is not None and not run.lock_token:
            served = await self._redis.look_to_fill(run)
            if served is not None:
                return served
        return await self.compute(run)

    async def compute(self, run: LookupRun) -> ServedAnswer:
        self._count("computed")
        run.computed = await self._answer(run)
        return self.served(run, run.computed)

    def served(self, run: LookupRun, answer: ComputedAnswer) -> ServedAnswer:
        """The computed answer; for callers with equal grants alone if the audiences changed."""
        if answer.as_of.fit(run.revisions):
            return ServedAnswer.of_computed(run.lookup.key, answer)
        self._count("audiences_changed")
        return ServedAnswer.of_computed(run.lookup.alone.key, answer)

    async def _answer(self, run: LookupRun) -> ComputedAnswer:
        snapshot, revisions = run.snapshot, run.revisions
        assert run.compute is not None, "only a run that is computed already has none"
        if snapshot is None or not protocol.pending_revisions(snapshot.state, revisions):
            return await run.compute()
        # The writer has not done it. The answer needs no drain, only its fill does.
        drain = self._start(self._invalidation.drain(snapshot.tenant, revisions))
        answer = await run.compute()
        await asyncio.wait([drain], timeout=_DRAIN_S_MAX)
        return answer
