"""Meters what tenants use of model services, stores it in batches, and checks their budgets.

A process that is killed loses the counts of its last FLUSH_S seconds.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import date, datetime

import structlog
from cachetools import TTLCache

from index.errors import BudgetSpent, DatabaseUnavailable
from index.tenants.usage import MonthlyUsage, UsageAmounts, UsageKey, UsageStore
from ingest.billing_context import billed_tenant

FLUSH_S = 2.0
MONTH_TTL_S = 5.0  # how long a process caches the cost of a tenant's month
_TENANTS_MAX = 10_000
# The operations that call a language model.
OPERATIONS = ("cut", "summary", "rewrite", "rerank", "compress", "answer")
# The operation of each kind of token: of an embedder, and read and written by a language model.
_OPERATIONS = {
    "query": "search",
    "batch": "ingest",
    **{f"{name}_{kind}": name for name in OPERATIONS for kind in ("read", "written")},
}

log = structlog.get_logger()


class UsageMeter:
    """prices: per million tokens of each kind; a kind without a price is free.

    budget: default limit of a tenant's monthly cost; None: no limit.
    """

    def __init__(
        self,
        usage: UsageStore,
        now: Callable[[], datetime],
        *,
        prices: Mapping[str, float],
        budget: float | None,
    ) -> None:
        self._usage = usage
        self._now = now
        self._prices = prices
        self._budget = budget
        self._pending: defaultdict[UsageKey, UsageAmounts] = defaultdict(UsageAmounts)
        self._months: TTLCache[str, MonthlyUsage] = TTLCache(_TENANTS_MAX, MONTH_TTL_S)

    def tokens(self, kind: str, tokens: int) -> None:
        """Count the tokens that one call of a model service used."""
        if (tenant := billed_tenant()) is not None:
            money = tokens / 1_000_000 * self._prices.get(kind, 0.0)
            self._count(tenant, _OPERATIONS[kind], "", UsageAmounts(tokens=tokens, money=money))

    def chunks(self, tenant: str, source: str, embedded: int, reused: int) -> None:
        """Count the chunks of a document that was written or found unchanged."""
        if embedded or reused:
            self._count(tenant, "ingest", source, UsageAmounts(embedded=embedded, reused=reused))

    async def check(self) -> None:
        """Raise `BudgetSpent` if the budget of the billed tenant is spent."""
        tenant = billed_tenant()
        if tenant is not None and await self.is_budget_spent(tenant):
            raise BudgetSpent(tenant)

    async def is_budget_spent(self, tenant: str) -> bool:
        """Whether the month's cost is at the limit; other processes' use counts within seconds."""
        if not any(self._prices.values()):
            return False
        month = self._months.get(tenant)
        if month is None:
            await self.flush()
            month = await self._usage.month(tenant, self._today().replace(day=1))
            self._months[tenant] = month
        limit = self._budget if month.budget is None else month.budget
        return limit is not None and month.money >= limit

    def drop_cached(self, tenant: str) -> None:
        """Forget the cached month, so that a new limit holds in this process at once."""
        self._months.pop(tenant, None)

    async def flush(self) -> None:
        """Store the pending counts; if the database is unavailable, the next flush retries."""
        pending, self._pending = self._pending, defaultdict(UsageAmounts)
        if not pending:
            return
        try:
            await self._usage.add(pending)
        except DatabaseUnavailable as error:
            log.warning("usage", state="unkept", detail=str(error))
            for key, amounts in pending.items():
                self._pending[key].add(amounts)

    @asynccontextmanager
    async def background_flush(self) -> AsyncIterator[None]:
        """Flush every FLUSH_S seconds during the block, and once at its end."""
        flushing = asyncio.create_task(self._flush_forever())
        try:
            yield
        finally:
            flushing.cancel()
            await asyncio.wait((flushing,))
            await self.flush()

    async def _flush_forever(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_S)
            await self.flush()

    def _count(self, tenant: str, operation: str, source: str, amounts: UsageAmounts) -> None:
        self._pending[UsageKey(tenant, self._today(), operation, source)].add(amounts)
        if (month := self._months.get(tenant)) is not None:
            month.money += amounts.money

    def _today(self) -> date:
        return self._now().date()
