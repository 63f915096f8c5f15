"""Read leases on the primary, and the messages between writers and holders.

The extension `regions` says in `read_lease.py` why they are stored, read and announced so.
"""

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import orjson

from index.postgres.database import Database
from index.postgres.session import Session
from index.tenants.tenant_store import TenantRevisions

CHANNEL = "nearhit_moved"  # that every holder listens to
TENANTS_MAX = 20  # of one message, which PostgreSQL limits to 8,000 bytes


@dataclass(frozen=True, slots=True)
class ReadLease:
    """number: of its last renewal."""

    holder: str
    number: int
    duration_s: float


@dataclass(frozen=True, slots=True)
class Moved:
    """Counters of tenants that have moved, from one snapshot.

    since: where the next snapshot continues.
    """

    history: str
    since: int
    counters: Mapping[str, TenantRevisions]


@dataclass(frozen=True, slots=True)
class Announcement:
    """What a writer has announced, as a holder hears it."""

    writer: str
    number: int
    history: str
    counters: Mapping[str, TenantRevisions]


@dataclass(frozen=True, slots=True)
class Announced:
    """What a writer reads as it announces.

    leases: all that are stored. is_sent: whether their holders were sent the announcement.
    longest_s: of the longest lease that may have been lost with an earlier history.
    is_settled: whether the leases of earlier histories have run out.
    """

    history: str
    leases: Sequence[ReadLease]
    is_sent: bool
    longest_s: float
    is_settled: bool


class ReadLeaseStore:
    """Methods raise `DatabaseUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def renew(
        self, session: Session, holder: str, region: str, duration_s: float, since: int | None
    ) -> Moved:
        """Store the lease and commit; then read what has moved `since` the renewal before.

        session: of `announcements`. since: None before the first renewal, which reads nothing.
        """
        row = await session.row("read_leases.renew", holder, region, duration_s, since)
        assert row is not None, "the procedure returns its values"
        moved = orjson.loads(row["moved"] or "[]")
        return Moved(row["history"], row["since"], _counters(row["history"], moved))

    async def announce(
        self,
        tenants: Collection[str],
        writer: str,
        number: int,
        *,
        longest_s: float,
        sends: bool,
    ) -> Announced:
        """Read the leases; if there are any, and it `sends`, send the tenants' counters.

        tenants: at most `TENANTS_MAX`, whose changes are committed.
        """
        assert len(tenants) <= TENANTS_MAX, "a message is limited"
        rows = await self._database.rows(
            "read_leases.announce", list(tenants), writer, number, sends, longest_s
        )
        head = rows[0]
        return Announced(
            history=head["history"],
            leases=_leases(rows),
            is_sent=head["messages"] > 0,
            longest_s=head["longest_s"],
            is_settled=head["is_settled"],
        )

    async def stored(self) -> tuple[str, Sequence[ReadLease]]:
        """The history, and all leases that are stored in it."""
        rows = await self._database.rows("read_leases.stored")
        return rows[0]["history"], _leases(rows)

    @asynccontextmanager
    async def acknowledging(self) -> AsyncIterator[Session]:
        """A connection on which `acknowledge` takes one round trip."""
        async with self._database.direct_session() as session:
            await session.prepare("read_leases.acknowledge")
            yield session

    async def acknowledge(
        self, session: Session, holder: str, numbers: Mapping[str, Collection[int]]
    ) -> None:
        """Tell each writer that the holder has heard of its announcements of these numbers.

        session: of `acknowledging`.
        """
        channels = [_channel_of(writer) for writer in numbers]
        messages = [orjson.dumps([holder, *each]).decode() for each in numbers.values()]
        await session.rows("read_leases.acknowledge", channels, messages)

    async def remove(self, holder: str, number: int, history: str) -> None:
        """Remove the lease, unless it was renewed since. number: of the renewal."""
        await self._database.rows("read_leases.remove", holder, number, history)

    async def release(self, holder: str) -> None:
        """Remove the lease of a holder that answers from it no more."""
        await self._database.rows("read_leases.release", holder)

    async def replicate_history(self) -> None:
        """Store the name of the history; a new one is not settled."""
        await self._database.rows("read_leases.replicate_history")

    async def settle(self, history: str) -> None:
        """Store that the leases of earlier histories have run out."""
        await self._database.rows("read_leases.settle", history)

    async def regions(self) -> list[str]:
        """The region of each gateway that has a lease, or had one until lately."""
        return [row["region"] for row in await self._database.rows("read_leases.regions")]

    @asynccontextmanager
    async def announcements(
        self, on_announcement: Callable[[Announcement], None]
    ) -> AsyncIterator[Session]:
        """Call `on_announcement` with each one that is sent meanwhile."""
        async with self._database.listening(
            CHANNEL, lambda message: on_announcement(_announcement(message))
        ) as session:
            # A lease counts from before its renewal, so each round trip of it shortens the lease.
            await session.prepare("read_leases.renew")
            yield session

    def acknowledgements(
        self, writer: str, on_heard: Callable[[str, Sequence[int]], None]
    ) -> AbstractAsyncContextManager[Session]:
        """Call `on_heard` with each holder that acknowledges announcements, and their numbers."""

        def hear(message: str) -> None:
            holder, *numbers = orjson.loads(message)
            on_heard(holder, numbers)

        return self._database.listening(_channel_of(writer), hear)


def _leases(rows: Iterable[Mapping[str, Any]]) -> Sequence[ReadLease]:
    return [
        ReadLease(row["holder"], row["number"], row["duration_s"])
        for row in rows
        if row["holder"] is not None
    ]


def _channel_of(writer: str) -> str:
    return f"nearhit_heard_{writer}"


def _announcement(message: str) -> Announcement:
    sent = orjson.loads(message)
    history = sent["history"]
    counters = _counters(history, sent["moved"] or ())
    return Announcement(sent["writer"], sent["number"], history, counters)


def _counters(
    history: str, moved: Iterable[tuple[str, int, int, int]]
) -> Mapping[str, TenantRevisions]:
    return {
        tenant: TenantRevisions(history, revision, access_revision, audience_revision)
        for tenant, revision, access_revision, audience_revision in moved
    }
