"""Stores the counts of similar questions, by tenant and generation."""

from gateway.extensions.similar_questions import error_limit
from gateway.extensions.similar_questions.error_limit import PairCounts
from gateway.extensions.similar_questions.pair_stats import TenantStats
from index.audit import audit_log
from index.postgres.database import Database


class PairStore:
    """index_name: of the index version; counts of another one, or of other rules, are never read.

    error_max: of tenants that set none. All calls raise `DatabaseUnavailable`.
    """

    def __init__(self, database: Database, index_name: str, error_max: float) -> None:
        self._database = database
        self._generation = f"{index_name}/{error_limit.RULES}"
        self._error_max = error_max

    async def read(self, tenant: str) -> TenantStats:
        row = await self._database.row("semantic_counts.read", tenant, self._generation)
        if row is None:  # there is no such tenant any more
            return TenantStats(self._error_max, PairCounts())
        error_max, *counts = row.values()
        return TenantStats(error_max or self._error_max, PairCounts(*counts))

    async def add(self, tenant: str, counts: PairCounts) -> None:
        """Add counts in one statement; it halves verified and wrong when the former, times the
        limit, is `EVIDENCE_MAX` or more.
        """
        await self._database.rows(
            "semantic_counts.add",
            tenant,
            self._generation,
            *(counts.seen, counts.served, counts.verified, counts.wrong),
            self._error_max,
            error_limit.EVIDENCE_MAX,
        )

    async def set_error_max(self, tenant: str, error_max: float | None) -> bool:
        """Set the tenant's limit; None removes it. False if there is no such tenant."""
        async with self._database.transaction() as session:
            row = await session.row("semantic_counts.set_error_max", tenant, error_max)
            if row is not None:
                await audit_log.append(session, tenant, "semantic.put", tenant, error_max=error_max)
            return row is not None
