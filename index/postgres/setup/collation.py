"""Whether the server's library sorts text as it did when the database's indexes were made."""

from dataclasses import dataclass

from index.postgres.database import Database


@dataclass(frozen=True, slots=True)
class CollationChange:
    """database: its name, quoted. stored, actual: versions; actual is None if it has none."""

    database: str
    stored: str
    actual: str | None

    @property
    def remedy(self) -> str:
        return (
            f"REINDEX DATABASE {self.database}; "
            f"ALTER DATABASE {self.database} REFRESH COLLATION VERSION;"
        )


async def change(database: Database) -> CollationChange | None:
    """None if nothing has changed. Raises `DatabaseUnavailable`."""
    rows = await database.rows("index_meta.collation_change")
    return CollationChange(**rows[0]) if rows else None
