"""Announces committed changes to the holders of read leases, and waits until they have heard.

`cache/read_lease.py` has the rules, and says why no write may be acknowledged earlier.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field

import structlog

from cache import read_lease
from cache.read_lease import StoredLease
from gateway.regions.clock import suspend_aware_s
from index.errors import DatabaseUnavailable
from index.postgres.database import Database
from index.regions.read_lease_store import TENANTS_MAX, Announced, ReadLease, ReadLeaseStore

log = structlog.get_logger()


@dataclass(eq=False, slots=True)
class _Message:
    """Changes that are announced together, once."""

    tenants: set[str] = field(default_factory=set)
    number: int = 0
    acknowledged: set[str] = field(default_factory=set)
    heard: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: asyncio.Task[None] | None = None


class Announcer:
    """One for each process that writes; `database.connect` calls it after each commit.

    longest_s: the duration of the leases of this deployment; 0 without regions. After a failover
        nothing is acknowledged for as long, or as long as the longest lease that was ever stored.
    """

    def __init__(self, longest_s: float, clock_s: Callable[[], float] = suspend_aware_s) -> None:
        self._longest_s = longest_s
        self._clock_s = clock_s
        self._writer = secrets.token_hex(8)
        self._number = 0
        self._next = _Message()
        self._sending = asyncio.Lock()
        self._sent: dict[int, _Message] = {}
        self._replies = AsyncExitStack()
        self._is_listening = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Announcer"]:
        try:
            yield self
        finally:
            waiting = [each.waiting for each in self._sent.values() if each.waiting]
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            await self._stop_listening()

    async def __call__(self, database: Database, tenants: Collection[str]) -> None:
        """Return when no holder may answer without these tenants' committed changes.

        Raises `DatabaseUnavailable`.
        """
        store = ReadLeaseStore(database)
        names = sorted(tenants)
        parts = [names[i : i + TENANTS_MAX] for i in range(0, len(names), TENANTS_MAX)]
        await asyncio.gather(*(self._announce(store, part) for part in parts))

    async def _announce(self, store: ReadLeaseStore, tenants: Collection[str]) -> None:
        """Concurrent callers share a statement, which begins after each of them has committed."""
        message = self._next
        if len(message.tenants.union(tenants)) > TENANTS_MAX:
            message = self._next = _Message()
        message.tenants.update(tenants)
        async with self._sending:
            if message.waiting is None:
                if message is self._next:
                    self._next = _Message()
                message.waiting = await self._send(store, message)
        await asyncio.shield(message.waiting)

    async def _send(self, store: ReadLeaseStore, message: _Message) -> asyncio.Task[None]:
        self._number += 1
        message.number = self._number
        self._sent[message.number] = message
        try:
            announced = await self._read_leases(store, message)
            if announced.leases and not announced.is_sent:
                await self._listen(store)
                announced = await self._read_leases(store, message)
            if not announced.is_settled:
                await store.replicate_history()
        except BaseException:
            del self._sent[message.number]
            raise
        read_at_s = self._clock_s()  # after the reply, so that the wait is rather too long
        return asyncio.create_task(self._wait(store, message, announced, read_at_s))

    async def _read_leases(self, store: ReadLeaseStore, message: _Message) -> Announced:
        return await store.announce(
            message.tenants,
            self._writer,
            message.number,
            longest_s=self._longest_s,
            sends=self._is_listening,
        )

    async def _wait(
        self, store: ReadLeaseStore, message: _Message, announced: Announced, read_at_s: float
    ) -> None:
        by_holder = {lease.holder: lease for lease in announced.leases}
        leases = [
            StoredLease(lease.holder, lease.number, lease.duration_s) for lease in announced.leases
        ]
        try:
            waited_s = 0.0
            while not read_lease.may_acknowledge(
                awaiting := read_lease.awaited(leases, message.acknowledged, waited_s),
                is_history_settled=announced.is_settled,
                waited_s=waited_s,
                longest_s=announced.longest_s,
            ):
                ends_s = [lease.duration_s for lease in awaiting]
                if not announced.is_settled:
                    ends_s.append(announced.longest_s)
                await _wait_for(message.heard, min(end_s for end_s in ends_s) - waited_s)
                waited_s = self._clock_s() - read_at_s
        finally:
            self._sent.pop(message.number, None)
        ended = read_lease.ended(leases, message.acknowledged, waited_s)
        await self._tidy(store, announced, [by_holder[lease.holder] for lease in ended])

    async def _tidy(
        self, store: ReadLeaseStore, announced: Announced, ended: Sequence[ReadLease]
    ) -> None:
        """Spare the next writer what this one has waited for."""
        try:
            for lease in ended:
                log.warning("read_lease", state="ran_out", holder=lease.holder)
                await store.remove(lease, announced.history)
            if ended:
                await self._stop_listening()  # perhaps the replies were lost on the way to here
            if not announced.is_settled:
                await store.settle(announced.history)
        except DatabaseUnavailable as error:
            log.warning("read_lease", state="unavailable", detail=str(error))

    async def _listen(self, store: ReadLeaseStore) -> None:
        if not self._is_listening:
            await self._replies.enter_async_context(
                store.acknowledgements(self._writer, self._hear)
            )
            self._is_listening = True

    async def _stop_listening(self) -> None:
        self._is_listening = False
        replies, self._replies = self._replies, AsyncExitStack()
        await replies.aclose()

    def _hear(self, holder: str, numbers: Sequence[int]) -> None:
        for number in numbers:
            if message := self._sent.get(number):
                message.acknowledged.add(holder)
                message.heard.set()


async def _wait_for(event: asyncio.Event, timeout_s: float) -> None:
    event.clear()
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await event.wait()
