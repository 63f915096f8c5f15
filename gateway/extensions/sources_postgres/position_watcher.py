"""Waits for positions of followed sources: one statement at a time reads those of all who wait."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from common import background_tasks
from common.errors import Saturated
from gateway.extensions.sources_postgres.follower_store import FollowerStore
from index.errors import IndexStoreError

# Starting values, not measured.
POLL_S = 0.02
TENANT_WAITING_MAX = 32  # in a process


@dataclass(slots=True)
class PositionWatcher:
    """followers: None as the position of a source that is copied, no entry: it is not followed."""

    followers: FollowerStore
    _waiting: Counter[tuple[str, str]] = field(default_factory=Counter)
    _positions: dict[tuple[str, str], str | None] = field(default_factory=dict)
    _read: asyncio.Event = field(default_factory=asyncio.Event)
    _task: asyncio.Task[None] | None = None

    def waiting(self, tenant: str) -> int:
        """How many calls of the tenant wait here."""
        return sum(number for (each, _), number in self._waiting.items() if each == tenant)

    @asynccontextmanager
    async def watching(self, tenant: str, source: str) -> AsyncIterator["WatchedPosition"]:
        where = (tenant, source)
        self._waiting[where] += 1
        if self._task is None:
            self._task = asyncio.create_task(self._poll())
        try:
            yield WatchedPosition(self, where)
        finally:
            self._waiting[where] -= 1
            if not self._waiting[where]:
                del self._waiting[where]
                self._positions.pop(where, None)

    async def end(self) -> None:
        if self._task is not None:
            await background_tasks.end(self._task)

    async def next(self, where: tuple[str, str]) -> str | None:
        """The position as it is read next."""
        await self._read.wait()
        return self._positions.get(where)

    async def _poll(self) -> None:
        try:
            while self._waiting:
                try:
                    self._positions = await self.followers.positions(list(self._waiting))
                except (IndexStoreError, Saturated):
                    self._positions = {}
                self._read.set()
                self._read = asyncio.Event()
                await asyncio.sleep(POLL_S)
        finally:
            self._task = None


@dataclass(frozen=True, slots=True)
class WatchedPosition:
    watcher: PositionWatcher
    where: tuple[str, str]

    async def next(self) -> str | None:
        return await self.watcher.next(self.where)
