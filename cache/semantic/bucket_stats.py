"""Each tenant's bucket counts in this process: the stored ones plus those not written yet.

They are read and written in the background, so that no request waits.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from cachetools import LRUCache

from cache.errors import ChangeFeedUnavailable
from cache.semantic.similarity_buckets import BucketCounts

_FRESH_S = 1.0  # after which they are read again; starting values, not measured
_USABLE_S = 30.0  # after which they are not used: another worker may have counted wrong answers
_TENANTS_MAX = 10_000


@dataclass(frozen=True, slots=True)
class TenantStats:
    """A tenant's maximum share of wrong answers, and its counts by the number of the bucket."""

    error_max: float
    counts: Mapping[int, BucketCounts]


class BucketStatsStore(Protocol):
    """Sums the counts of all processes. Raises `ChangeFeedUnavailable`."""

    async def read(self, tenant: str, /) -> TenantStats: ...
    async def add(self, tenant: str, counts: Mapping[int, BucketCounts], /) -> None: ...


@dataclass(slots=True)
class _TenantState:
    stats: TenantStats | None = None
    read_at_s: float = 0.0
    unwritten: dict[int, BucketCounts] = field(default_factory=dict)
    update: asyncio.Task[None] | None = None


class BucketStats:
    def __init__(self, store: BucketStatsStore, clock_s: Callable[[], float]) -> None:
        self._store = store
        self._clock_s = clock_s
        self._states: LRUCache[str, _TenantState] = LRUCache(_TENANTS_MAX)

    def get(self, tenant: str) -> TenantStats | None:
        """The tenant's current counts; None while there are none, or they are too old."""
        state = self._of(tenant)
        age_s = self._clock_s() - state.read_at_s
        if state.stats is None or age_s >= _FRESH_S:
            self._update(tenant, state)
        if state.stats is None or age_s >= _USABLE_S:
            return None
        counts = {**state.stats.counts}
        for bucket, unwritten in state.unwritten.items():
            counts[bucket] = _sum(counts.get(bucket, BucketCounts()), unwritten)
        return replace(state.stats, counts=counts)

    def add(self, tenant: str, bucket: int, counts: BucketCounts) -> None:
        unwritten = self._of(tenant).unwritten
        unwritten[bucket] = _sum(unwritten.get(bucket, BucketCounts()), counts)

    async def flush(self) -> None:
        """Write all unwritten counts, when the process ends."""
        for tenant, state in list(self._states.items()):
            if state.update is not None:
                await state.update
            if state.unwritten:
                await self._refresh(tenant, state)

    def _of(self, tenant: str) -> _TenantState:
        return self._states.setdefault(tenant, _TenantState())

    def _update(self, tenant: str, state: _TenantState) -> None:
        if state.update is None or state.update.done():
            state.update = asyncio.create_task(self._refresh(tenant, state))

    async def _refresh(self, tenant: str, state: _TenantState) -> None:
        unwritten, state.unwritten = state.unwritten, {}
        begun_at_s = self._clock_s()
        try:
            if unwritten:
                await self._store.add(tenant, unwritten)
                unwritten = {}
            state.stats = await self._store.read(tenant)
            state.read_at_s = begun_at_s
        except ChangeFeedUnavailable:
            for bucket, counts in unwritten.items():
                self.add(tenant, bucket, counts)


def _sum(a: BucketCounts, b: BucketCounts) -> BucketCounts:
    return BucketCounts(
        seen=a.seen + b.seen,
        served=a.served + b.served,
        verified=a.verified + b.verified,
        wrong=a.wrong + b.wrong,
    )
