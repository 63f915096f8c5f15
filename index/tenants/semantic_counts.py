"""Counts of answers to similar questions, by tenant and generation."""

from dataclasses import dataclass

from index.audit import audit_log
from index.postgres.database import Database


@dataclass(frozen=True, slots=True)
class SemanticCounts:
    """error_max: the tenant's own limit, if it has one. See `cache.semantic.error_limit`."""

    error_max: float | None
    seen: int = 0
    served: int = 0
    verified: int = 0
    wrong: int = 0


class SemanticCountStore:
    """generation: the counts of another generation are never read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self,
        tenant: str,
        generation: str,
        *,
        seen: int = 0,
        served: int = 0,
        verified: int = 0,
        wrong: int = 0,
        error_max: float,
        evidence_max: float,
    ) -> None:
        """Add counts in one statement; it halves verified and wrong when the former, times the
        limit, is `evidence_max` or more. error_max: the limit of tenants without their own.
        """
        counts = (seen, served, verified, wrong)
        await self._database.rows(
            "semantic_counts.add", tenant, generation, *counts, error_max, evidence_max
        )

    async def read(self, tenant: str, generation: str) -> SemanticCounts | None:
        """None if there is no such tenant."""
        rows = await self._database.rows("semantic_counts.read", tenant, generation)
        return SemanticCounts(**rows[0]) if rows else None

    async def set_error_max(self, tenant: str, error_max: float | None) -> bool:
        """Set the tenant's limit; None removes it. False if there is no such tenant."""
        async with self._database.transaction() as session:
            row = await session.row("semantic_counts.set_error_max", tenant, error_max)
            if row is not None:
                await audit_log.append(session, tenant, "semantic.put", tenant, error_max=error_max)
            return row is not None
