"""The roll-up: openings become popularity, in one change of the tenant.

Answers that rank by popularity and have one of the documents among their candidates end with the
change; others stay.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from gateway.extensions.popularity.decay import DecayedCount
from index.documents import outbox
from index.documents.outbox import CommitResult
from index.postgres.database import Database
from index.postgres.session import Row, Session

_TENANTS_MAX = 100  # of one look for those that are due
_DOCUMENTS_MAX = (
    5_000  # opened ones and falling ones of one roll-up; a starting value, not measured
)


@dataclass(frozen=True, slots=True)
class _RolledUp:
    key: int
    level_before: int
    count: DecayedCount


class PopularityRollup:
    """interval_s: the shortest time between two roll-ups of a tenant."""

    def __init__(self, database: Database, *, interval_s: float) -> None:
        self._database = database
        self._interval_s = interval_s

    async def due(self, today: date) -> Sequence[str]:
        """The tenants that can be rolled up now; those that waited longest come first."""
        rows = await self._database.rows("popularity.due", self._interval_s, today, _TENANTS_MAX)
        return [row["tenant"] for row in rows]

    async def roll_up(self, tenant: str, today: date) -> CommitResult | None:
        """Add the tenant's openings; None if no level changes, or if another process does it now.

        What is more than one roll-up takes waits for the next one.
        """
        async with self._database.transaction() as session:
            if not await session.value("popularity.try_lock", tenant):
                return None
            rows = await session.rows("popularity.take", tenant, today, _DOCUMENTS_MAX)
            rolled_up = [_rolled_up(row, today) for row in rows]
            await _store(session, tenant, rolled_up, today)
            await session.rows("popularity.record_run", tenant)
            changed = [each.key for each in rolled_up if each.count.level != each.level_before]
            return await outbox.mark_popularity(session, tenant, changed) if changed else None

    async def delete_openings(self, today: date) -> None:
        """Delete who opened what before yesterday."""
        await self._database.rows("popularity.delete_openings", today - timedelta(days=1))


def _rolled_up(row: Row, today: date) -> _RolledUp:
    count = DecayedCount(row["openings"], row["counted_on"]).with_openings(row["days"], today)
    return _RolledUp(row["document_key"], row["level"], count)


async def _store(
    session: Session, tenant: str, rolled_up: Sequence[_RolledUp], today: date
) -> None:
    kept = [each for each in rolled_up if each.count.level]
    await session.rows(
        "popularity.store",
        tenant,
        [each.key for each in kept],
        [each.count.openings for each in kept],
        today,
        [each.count.level for each in kept],
        [each.count.falls_on for each in kept],
    )
    forgotten = [each.key for each in rolled_up if not each.count.level]
    await session.rows("popularity.forget", tenant, forgotten)
