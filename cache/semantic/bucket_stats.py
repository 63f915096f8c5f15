"""Each tenant's counts, as this process knows them: read a moment ago, and what it saw since.

They are read and written in the background, so that no answer waits for it.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from cachetools import LRUCache

from cache.errors import ChangeFeedUnavailable
from cache.semantic.similarity_buckets import BucketCounts

_FRESH_S = 1.0  # after which they are read again; starting values, not measured
_USABLE_S = 30.0  # after which they count for nothing: another worker may have seen wrong answers
_TENANTS_MAX = 10_000


@dataclass(frozen=True, slots=True)
class TenantStats:
    """A tenant's limit of wrong answers, and its counts by the number of the band."""

    error_max: float
    counts: Mapping[int, BucketCounts]


class BucketStatsStore(Protocol):
    """Where the counts of all processes come together. Raises `TruthUnavailable`."""

    async def read(self, tenant: str, /) -> TenantStats: ...
    async def add(self, tenant: str, counts: Mapping[int, BucketCounts], /) -> None: ...


@dataclass(slots=True)
class _TenantState:
    account: TenantStats | None = None
    read_at_s: float = 0.0
    unwritten: dict[int, BucketCounts] = field(default_factory=dict)
    update: asyncio.Task[None] | None = None


class BucketStats:
    def __init__(self, ledger: BucketStatsStore, clock_s: Callable[[], float]) -> None:
        self._ledger = ledger
        self._clock_s = clock_s
        self._known: LRUCache[str, _TenantState] = LRUCache(_TENANTS_MAX)

    def get(self, tenant: str) -> TenantStats | None:
        """What is known now; None while that is nothing, or too old."""
        known = self._of(tenant)
        age_s = self._clock_s() - known.read_at_s
        if known.account is None or age_s >= _FRESH_S:
            self._update(tenant, known)
        if known.account is None or age_s >= _USABLE_S:
            return None
        counts = {**known.account.counts}
        for band, unwritten in known.unwritten.items():
            counts[band] = _sum(counts.get(band, BucketCounts()), unwritten)
        return replace(known.account, counts=counts)

    def add(self, tenant: str, band: int, seen: BucketCounts) -> None:
        unwritten = self._of(tenant).unwritten
        unwritten[band] = _sum(unwritten.get(band, BucketCounts()), seen)

    async def flush(self) -> None:
        """Write what is unwritten; for the end of a process."""
        for tenant, known in list(self._known.items()):
            if known.update is not None:
                await known.update
            if known.unwritten:
                await self._refresh(tenant, known)

    def _of(self, tenant: str) -> _TenantState:
        return self._known.setdefault(tenant, _TenantState())

    def _update(self, tenant: str, known: _TenantState) -> None:
        if known.update is None or known.update.done():
            known.update = asyncio.create_task(self._refresh(tenant, known))

    async def _refresh(self, tenant: str, known: _TenantState) -> None:
        unwritten, known.unwritten = known.unwritten, {}
        begun_at_s = self._clock_s()
        try:
            if unwritten:
                await self._ledger.add(tenant, unwritten)
                unwritten = {}
            known.account = await self._ledger.read(tenant)
            known.read_at_s = begun_at_s
        except ChangeFeedUnavailable:
            for band, counts in unwritten.items():
                self.add(tenant, band, counts)


def _sum(one: BucketCounts, other: BucketCounts) -> BucketCounts:
    return BucketCounts(
        seen=one.seen + other.seen,
        served=one.served + other.served,
        verified=one.verified + other.verified,
        wrong=one.wrong + other.wrong,
    )
