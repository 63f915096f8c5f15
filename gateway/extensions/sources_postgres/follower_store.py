"""Which processes follow which slots, and how far they are."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from index.errors import JobLost
from index.postgres.database import Database
from index.postgres.session import Session


@dataclass(frozen=True, slots=True)
class FollowerLease:
    """What one process holds to follow a slot, and to write for its source."""

    follower_no: int
    lease: UUID

    async def hold(self, session: Session) -> None:
        """Keep it, and the source as it is, until the transaction ends. Raises `JobLost`."""
        if not await session.value("source_followers.hold", self.follower_no, self.lease):
            raise JobLost(self.follower_no)


@dataclass(frozen=True, slots=True)
class ClaimedFollower:
    """See migrations/0001_schema.sql. is_current: whether the source is still to be followed so."""

    lease: FollowerLease
    tenant: str
    source: str
    slot: str
    settings: Mapping[str, Any]
    may_publish: bool
    history: str | None
    definition: str | None
    lsn: str | None
    failures: int
    is_current: bool


class FollowerStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(
        self, lease: UUID, *, lease_s: float, limit: int, tenant_max: int, dropped_max: int
    ) -> list[ClaimedFollower]:
        """Take followers that nobody has; makes those of new sources first.

        dropped_max: of those that are no longer current, beside the others.
        """
        await self._database.rows("source_followers.enroll")
        rows = await self._database.rows(
            "source_followers.claim", lease, lease_s, limit, tenant_max, dropped_max
        )
        return [
            ClaimedFollower(
                FollowerLease(row["follower_no"], lease),
                **{name: value for name, value in row.items() if name != "follower_no"},
            )
            for row in rows
        ]

    async def renew(
        self, lease: UUID, followers: Collection[int], *, lease_s: float
    ) -> Mapping[int, bool]:
        """By follower that is kept and still to be followed so, whether a copy is asked for."""
        rows = await self._database.rows("source_followers.renew", lease, lease_s, list(followers))
        return {row["follower_no"]: row["is_copy_requested"] for row in rows if row["is_current"]}

    async def begin_copy(self, lease: FollowerLease) -> None:
        """Raises `JobLost`, as `record` does."""
        await self._change("begin_copy", lease)

    async def record(self, lease: FollowerLease, history: str, definition: str, lsn: str) -> None:
        """All changes up to the position are stored."""
        await self._change("record", lease, history, definition, lsn)

    async def release(self, lease: FollowerLease, *, due_s: float, failures: int) -> None:
        await self._database.rows(
            "source_followers.release", lease.follower_no, lease.lease, due_s, failures
        )

    async def remove(self, lease: FollowerLease) -> None:
        await self._database.rows("source_followers.remove", lease.follower_no, lease.lease)

    async def request_copy(self, tenant: str, source: str) -> None:
        """Let the source be copied anew; without a follower, the next one copies it anyway."""
        await self._database.rows("source_followers.request_copy", tenant, source)

    async def positions(
        self, sources: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str], str | None]:
        """By tenant and source that is followed, up to where it is stored; None before a copy."""
        tenants, names = [list(each) for each in zip(*sources, strict=True)]
        rows = await self._database.rows("source_followers.positions", tenants, names)
        return {(row["tenant"], row["source"]): row["lsn"] for row in rows}

    async def _change(self, name: str, lease: FollowerLease, *values: str) -> None:
        row = await self._database.row(
            f"source_followers.{name}", lease.follower_no, lease.lease, *values
        )
        if row is None:
            raise JobLost(lease.follower_no)
