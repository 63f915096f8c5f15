"""The limit of a tenant's monthly cost."""

from index.audit import audit_log
from index.postgres.database import Database


class BudgetStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, tenant: str, budget: float | None) -> bool:
        """False if there is no such tenant."""
        async with self._database.transaction() as session:
            row = await session.row("usage.put_budget", tenant, budget)
            if row is not None:
                await audit_log.append(session, tenant, "budget.put", tenant, budget_month=budget)
            return row is not None
