"""Keeps a read lease, and answers from it which revisions are acknowledged.

`read_lease.py` has the rules. The lease is renewed only while announcements can arrive and be
acknowledged: else each write would wait until it runs out.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Never

import structlog

from cache.revision_reader import RevisionSource
from common import background_tasks
from common.suspend_aware_clock import suspend_aware_s
from gateway.extensions._regions.read_lease_store import Announcement, ReadLeaseStore
from gateway.extensions.regions.acknowledger import SENDERS, Acknowledger
from gateway.extensions.regions.read_lease import HeldLease, Renewal
from index.errors import DatabaseUnavailable
from index.postgres.session import Session
from index.tenants.tenant_store import TenantRevisions

_RENEWALS = 3  # begun in the duration of a lease, so that one that fails leaves time for others
_PAUSE_S = 0.2  # before another connection; less than a round trip to a far primary

log = structlog.get_logger()


class LeaseKeeper:
    """primary: reads the counters of tenants that are not known yet.

    region: where this gateway runs. on_held: receives whether it holds a lease.
    """

    def __init__(
        self,
        store: ReadLeaseStore,
        primary: RevisionSource[TenantRevisions],
        region: str,
        *,
        duration_s: float,
        on_held: Callable[[bool], None] = lambda _is_held: None,
        clock_s: Callable[[], float] = suspend_aware_s,
    ) -> None:
        self._store = store
        self._primary = primary
        self._region = region
        self._duration_s = duration_s
        self._on_held = on_held
        self._clock_s = clock_s
        self._holder = secrets.token_hex(8)
        self._lease: HeldLease[TenantRevisions] = HeldLease()

    @property
    def is_held(self) -> bool:
        return self._lease.is_held(self._clock_s())

    def known(self, tenants: Collection[str]) -> Mapping[str, TenantRevisions] | None:
        """The tenants' counters under the lease, for a request that has arrived.

        They are not less than those of any write that was acknowledged before. None without a
        lease, or if a tenant is not known.
        """
        if not self.is_held:
            return None
        return self._lease.counters_of(tenants)  # after the clock was read

    async def revisions(self, tenants: Collection[str]) -> Mapping[str, TenantRevisions]:
        """The tenants' counters from the primary, which are known from now on."""
        epoch = self._lease.epoch
        counters = await self._primary.revisions(tenants)
        self._lease = self._lease.learned(epoch, counters)
        return counters

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the lease meanwhile; it is given back at the end."""
        keeping = asyncio.create_task(self._keep(self._region))
        try:
            yield
        finally:
            await background_tasks.end(keeping)
            self._lease = HeldLease()
            with suppress(DatabaseUnavailable):  # then a write waits until it has run out
                await self._store.release(self._holder)

    async def _keep(self, region: str) -> None:
        while True:
            try:
                await self._hold(region)
            except* (DatabaseUnavailable, TimeoutError) as lost:
                detail = str(lost.exceptions[0])
                log.warning("read_lease", state="lost", region=region, detail=detail)
            except* Exception:  # without a lease each request asks the primary
                log.exception("read_lease", state="failed", region=region)
            # The primary may have restarted: then its rows are of a history that is not known yet.
            self._lease = self._lease.dropped()
            self._on_held(False)
            await asyncio.sleep(_PAUSE_S)

    async def _hold(self, region: str) -> None:
        """Renew the lease until a connection is lost. They are opened at the same time."""
        acknowledger = Acknowledger(self._store, self._holder, idle_s=self._duration_s)
        are_connected = asyncio.Barrier(SENDERS + 1)
        async with asyncio.TaskGroup() as connections:
            connections.create_task(self._renew_until_lost(region, acknowledger, are_connected))
            for _ in range(SENDERS):
                connections.create_task(acknowledger.send(are_connected))

    async def _renew_until_lost(
        self, region: str, acknowledger: Acknowledger, are_connected: asyncio.Barrier
    ) -> Never:
        def hear(announcement: Announcement) -> None:
            self._lease = self._lease.heard(announcement.history, announcement.counters)
            acknowledger.heard(announcement)

        async with self._store.announcements(hear) as session:
            await are_connected.wait()
            while True:
                begun_at_s = self._clock_s()
                async with asyncio.timeout(self._duration_s):
                    await self._renew(session, region, begun_at_s)
                next_s = begun_at_s + self._duration_s / _RENEWALS
                await asyncio.sleep(next_s - self._clock_s())

    async def _renew(self, session: Session, region: str, begun_at_s: float) -> None:
        epoch, since = self._lease.epoch, self._lease.since
        moved = await self._store.renew(session, self._holder, region, self._duration_s, since)
        renewal = Renewal(moved.history, moved.since, moved.counters)
        was_held = self.is_held
        self._lease = self._lease.renewed(renewal, epoch, begun_at_s, self._duration_s)
        self._on_held(self.is_held)
        if not was_held and self.is_held:
            log.info("read_lease", state="held", region=region, holder=self._holder)
