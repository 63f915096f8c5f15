"""Statistics of answers to similar questions, by tenant, generation and similarity bucket."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from index.audit import audit_log
from index.postgres.database import Database


@dataclass(frozen=True, slots=True)
class StoredBucketCounts:
    """Counts of one bucket, or increments; see `cache.semantic.similarity_buckets.Counts`."""

    seen: int = 0
    served: int = 0
    verified: int = 0
    wrong: int = 0


@dataclass(frozen=True, slots=True)
class BucketSettings:
    """error_max: the tenant's own limit, if it has one. buckets: those with any counts."""

    error_max: float | None
    buckets: Mapping[int, StoredBucketCounts]


class SemanticBucketStore:
    """generation: the counts of another generation are never read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self,
        tenant: str,
        generation: str,
        added: Mapping[int, StoredBucketCounts],
        *,
        verified_max: int,
    ) -> None:
        """Add counts in one statement; above `verified_max` it halves verified and wrong."""
        columns: Sequence[Sequence[int]] = [
            list(added),
            [counts.seen for counts in added.values()],
            [counts.served for counts in added.values()],
            [counts.verified for counts in added.values()],
            [counts.wrong for counts in added.values()],
        ]
        await self._database.rows(
            "semantic_buckets.add", tenant, generation, *columns, verified_max
        )

    async def read(self, tenant: str, generation: str) -> BucketSettings | None:
        """The tenant's settings and counts; None if there is no such tenant."""
        rows = await self._database.rows("semantic_buckets.read", tenant, generation)
        if not rows:
            return None
        return BucketSettings(
            error_max=rows[0]["semantic_error_max"],
            buckets={
                row["bucket"]: StoredBucketCounts(
                    row["seen"], row["served"], row["verified"], row["wrong"]
                )
                for row in rows
                if row["bucket"] is not None
            },
        )

    async def set_error_max(self, tenant: str, error_max: float | None) -> bool:
        """Set the tenant's limit; None removes it. False if there is no such tenant."""
        async with self._database.transaction() as session:
            row = await session.row("semantic_buckets.set_error_max", tenant, error_max)
            if row is not None:
                await audit_log.append(session, tenant, "semantic.put", tenant, error_max=error_max)
            return row is not None
