"""Announces committed changes to the holders of read leases, and waits until they have heard.

`read_lease.py` has the rules, and says why no write may be acknowledged earlier.
"""

import asyncio
import math
import secrets
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import structlog

from common import background_tasks
from common.suspend_aware_clock import suspend_aware_s
from gateway.extensions._regions.read_lease_store import (
    TENANTS_MAX,
    Announced,
    ReadLease,
    ReadLeaseStore,
)
from gateway.extensions.regions import read_lease
from gateway.extensions.regions.read_lease import SeenLease, SeenLeases, StoredLease
from index.errors import DatabaseUnavailable
from index.postgres.database import Database

_READINGS = 10  # of the leases, in the duration of one, while a write waits; a starting value
_LISTEN_S_MAX = 2.0  # to connect; a starting value, as for `dedicated_connection`

log = structlog.get_logger()


@dataclass(eq=False, slots=True)
class _Message:
    """Changes that are announced together, once.

    waiting: ends when they are heard of; None before they are sent.
    """

    tenants: set[str] = field(default_factory=set)
    number: int = 0
    acknowledged: set[str] = field(default_factory=set)
    heard: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: "asyncio.Future[None] | None" = None


class Announcer:
    """One for each process that writes; `database.connect` calls it after each commit.

    longest_s: the duration of the leases of this deployment. After a failover nothing is
        acknowledged for as long, or as long as the longest lease that was ever stored.
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
        self._heard_at_s = -math.inf
        self._seen = SeenLeases()
        self._is_watching = False
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Announcer"]:
        try:
            yield self
        finally:
            await background_tasks.end(*self._tasks)
            await self._replies.aclose()

    def listen(self, database: Database) -> None:
        """Begin to listen to holders now, which spares the first write some round trips."""

        async def listen() -> None:
            async with self._sending:
                if not self._is_listening:
                    await self._listen(ReadLeaseStore(database))

        self._run(listen())

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

    async def _send(self, store: ReadLeaseStore, message: _Message) -> "asyncio.Future[None]":
        self._number += 1
        message.number = self._number
        self._sent[message.number] = message
        try:
            announced = await self._read_leases(store, message)
            if announced.leases and not announced.is_sent and await self._listen(store):
                announced = await self._read_leases(store, message)
            if not announced.is_settled:
                await store.replicate_history()
        except DatabaseUnavailable as error:  # nobody who waits for the message knows more
            del self._sent[message.number]
            return _failed(error)
        except BaseException:
            del self._sent[message.number]
            raise
        read_at_s = self._note(announced.history, announced.leases)
        if announced.leases and not self._is_watching:
            self._is_watching = True
            self._run(self._watch(store, announced.longest_s / _READINGS))
        return self._run(self._wait(store, message, announced, self._seen.leases, read_at_s))

    def _note(self, history: str, leases: Sequence[ReadLease]) -> float:
        """Call it after the reply, so that waits are rather too long; returns the time."""
        now_s = self._clock_s()
        stored = [StoredLease(lease.holder, lease.number, lease.duration_s) for lease in leases]
        self._seen = self._seen.read(history, stored, now_s)
        return now_s

    async def _watch(self, store: ReadLeaseStore, every_s: float) -> None:
        """See renewals while writes wait: the next write waits for the rest of them at most."""
        try:
            while self._sent:
                await asyncio.sleep(every_s)
                if self._sent:
                    self._note(*await store.stored())
        except DatabaseUnavailable as error:
            log.warning("read_lease", state="unavailable", detail=str(error))
        finally:
            self._is_watching = False

    async def _read_leases(self, store: ReadLeaseStore, message: _Message) -> Announced:
        return await store.announce(
            message.tenants,
            self._writer,
            message.number,
            longest_s=self._longest_s,
            sends=self._is_listening,
        )

    async def _wait(
        self,
        store: ReadLeaseStore,
        message: _Message,
        announced: Announced,
        leases: Sequence[SeenLease],
        read_at_s: float,
    ) -> None:
        try:
            now_s = self._clock_s()
            while not read_lease.may_acknowledge(
                awaiting := read_lease.awaited(leases, message.acknowledged, now_s),
                is_history_settled=announced.is_settled,
                waited_s=now_s - read_at_s,
                longest_s=announced.longest_s,
            ):
                ends_s = [lease.until_s for lease in awaiting]
                if not announced.is_settled:
                    ends_s.append(read_at_s + announced.longest_s)
                await _wait_for(message.heard, min(ends_s) - now_s)
                now_s = self._clock_s()
        finally:
            self._sent.pop(message.number, None)
        ended = read_lease.ended(leases, message.acknowledged, now_s)
        if any(lease.until_s > read_at_s for lease in ended) and self._heard_at_s < read_at_s:
            self._is_listening = False  # perhaps it is the replies that are lost
        if ended or not announced.is_settled:
            self._run(self._tidy(store, announced, ended))

    async def _tidy(
        self, store: ReadLeaseStore, announced: Announced, ended: Sequence[SeenLease]
    ) -> None:
        """Spare the next writer what this one has waited for."""
        try:
            for lease in ended:
                log.warning("read_lease", state="ran_out", holder=lease.holder)
                await store.remove(lease.holder, lease.number, announced.history)
            if not announced.is_settled:
                await store.settle(announced.history)
        except DatabaseUnavailable as error:
            log.warning("read_lease", state="unavailable", detail=str(error))

    async def _listen(self, store: ReadLeaseStore) -> bool:
        """Listen on a new connection; False if it can't, so that all leases have to run out.

        What still comes on the old connection is heard until then.
        """
        replies = AsyncExitStack()
        try:
            async with asyncio.timeout(_LISTEN_S_MAX):
                await replies.enter_async_context(store.acknowledgements(self._writer, self._hear))
        except (DatabaseUnavailable, TimeoutError) as error:
            log.warning("read_lease", state="deaf", detail=str(error))
            return False
        old, self._replies = self._replies, replies
        self._is_listening = True
        self._run(old.aclose())
        return True

    def _hear(self, holder: str, numbers: Sequence[int]) -> None:
        self._heard_at_s = self._clock_s()
        for number in numbers:
            if message := self._sent.get(number):
                message.acknowledged.add(holder)
                message.heard.set()

    def _run(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _failed(error: Exception) -> "asyncio.Future[None]":
    failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    failed.set_exception(error)
    failed.exception()  # retrieved, even if every caller has been cancelled
    return failed


async def _wait_for(event: asyncio.Event, timeout_s: float) -> None:
    event.clear()
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await event.wait()
