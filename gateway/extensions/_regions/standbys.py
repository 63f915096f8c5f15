"""The standbys of the primary, as it sees them."""

from dataclasses import dataclass

from index.postgres.database import Database


@dataclass(frozen=True, slots=True)
class StandbyStatus:
    """A connected standby, or the slot of one that is away.

    name: the standby's `application_name`, or its slot's name.
    state: `streaming`, or what PostgreSQL calls it otherwise; `away`.
    lag_s: from a commit until the standby shows it; None if the standby has all, or it is unknown.
    behind_bytes: of the log, that the standby has not replayed; None if unknown.
    wal_status: of its slot: `lost` if the log that the standby needs is gone; None without a slot.
    """

    name: str
    state: str
    lag_s: float | None
    behind_bytes: int | None
    wal_status: str | None


async def statuses(database: Database) -> list[StandbyStatus]:
    """Raises `DatabaseUnavailable`."""
    return [StandbyStatus(**row) for row in await database.rows("standbys.status")]
