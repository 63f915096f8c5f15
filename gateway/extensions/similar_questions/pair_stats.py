"""Each tenant's counts of similar questions in this process: the stored ones plus those unwritten.

They are read and written in the background, so that no request waits.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from cachetools import LRUCache

from gateway.extensions.similar_questions import error_limit
from gateway.extensions.similar_questions.error_limit import PairCounts
from index.errors import DatabaseUnavailable

_FRESH_S = 1.0  # after which they are read again; starting values, not measured
_USABLE_S = 30.0  # after which they are not used: another worker may have counted wrong answers
_TENANTS_MAX = 10_000


@dataclass(frozen=True, slots=True)
class TenantStats:
    """A tenant's maximum share of wrong answers, and its counts."""

    error_max: float
    counts: PairCounts

    @property
    def missing_right(self) -> int:
        """How many right answers in a row are missing until answers are served; 0 if they are."""
        return error_limit.missing_right(self.counts, self.error_max)


class PairStatsStore(Protocol):
    """Sums the counts of all processes. Its calls raise `DatabaseUnavailable`."""

    async def read(self, tenant: str, /) -> TenantStats: ...
    async def add(self, tenant: str, counts: PairCounts, /) -> None: ...
    async def set_error_max(self, tenant: str, error_max: float | None, /) -> object: ...


@dataclass(slots=True)
class _TenantState:
    stats: TenantStats | None = None
    read_at_s: float = 0.0
    unwritten: PairCounts = field(default_factory=PairCounts)
    update: asyncio.Task[None] | None = None


class PairStats:
    def __init__(self, store: PairStatsStore, clock_s: Callable[[], float]) -> None:
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
        return replace(state.stats, counts=state.stats.counts + state.unwritten)

    def add(self, tenant: str, counts: PairCounts) -> None:
        self._of(tenant).unwritten += counts

    async def read(self, tenant: str) -> TenantStats:
        """The stored counts, after those of this process. Raises `DatabaseUnavailable`."""
        await self._write(tenant, self._of(tenant))
        return await self._store.read(tenant)

    async def set_error_max(self, tenant: str, error_max: float | None) -> None:
        """Set the tenant's limit; None removes it. Raises `DatabaseUnavailable`."""
        await self._store.set_error_max(tenant, error_max)

    async def flush(self) -> None:
        """Write all unwritten counts, when the process ends."""
        for tenant, state in list(self._states.items()):
            await self._write(tenant, state)

    def _of(self, tenant: str) -> _TenantState:
        return self._states.setdefault(tenant, _TenantState())

    def _update(self, tenant: str, state: _TenantState) -> asyncio.Task[None]:
        if state.update is None or state.update.done():
            state.update = asyncio.create_task(self._refresh(tenant, state))
        return state.update

    async def _write(self, tenant: str, state: _TenantState) -> None:
        """Write the tenant's unwritten counts; a caller that is cancelled loses none of them."""
        if state.update is not None:
            await asyncio.wait([state.update])
        if state.unwritten != PairCounts():
            await asyncio.wait([self._update(tenant, state)])

    async def _refresh(self, tenant: str, state: _TenantState) -> None:
        unwritten, state.unwritten = state.unwritten, PairCounts()
        begun_at_s = self._clock_s()
        try:
            if unwritten != PairCounts():
                await self._store.add(tenant, unwritten)
                unwritten = PairCounts()
            state.stats = await self._store.read(tenant)
            state.read_at_s = begun_at_s
        except DatabaseUnavailable:
            self.add(tenant, unwritten)
