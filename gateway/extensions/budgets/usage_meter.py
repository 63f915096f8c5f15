"""Meters what tenants use of model services, stores it in batches, and checks their budgets.

A process that is killed loses the counts of its last FLUSH_S seconds.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import date, datetime

from cachetools import TTLCache

from common.billing_context import billed_tenant
from gateway.extension import FlushBuffer, Metrics, Settings, utc_now
from gateway.extensions._tenants.usage_store import MonthlyUsage, UsageAmounts, UsageKey, UsageStore
from gateway.extensions.budgets.usage_metrics import UsageMetrics
from index.errors import BudgetSpent
from index.postgres.database import Database

FLUSH_S = 2.0
KEYS_MAX = 100_000  # pending counts, by tenant, day, operation and source; 40 MB
MONTH_TTL_S = 5.0  # how long a process caches the cost of a tenant's month
_TENANTS_MAX = 10_000
# The operations that call a language model.
OPERATIONS = ("chunking", "summary", "rewrite", "rerank", "compress", "answer")
# The operation of each kind of token: of an embedder, and read and written by a language model.
_OPERATIONS = {
    "query": "search",
    "batch": "ingest",
    **{f"{name}_{kind}": name for name in OPERATIONS for kind in ("input", "output")},
}


class PricedUsageMeter:
    """prices: cost of a million tokens of each kind; a kind without a price is free.

    budget: limit of the monthly cost of a tenant that has no limit of its own; None: no limit.
    """

    def __init__(
        self,
        usage: UsageStore,
        now: Callable[[], datetime],
        metrics: UsageMetrics,
        *,
        prices: Mapping[str, float],
        budget: float | None,
    ) -> None:
        self._usage = usage
        self._now = now
        self._metrics = metrics
        self._prices = prices
        self._budget = budget
        self.pending: FlushBuffer[UsageKey, UsageAmounts] = FlushBuffer(
            "usage", usage.add, _sum, every_s=FLUSH_S, items_max=KEYS_MAX
        )
        self._months: TTLCache[str, MonthlyUsage] = TTLCache(_TENANTS_MAX, MONTH_TTL_S)

    def tokens(self, kind: str, tokens: int) -> None:
        """Count the tokens that one call of a model service used."""
        if (tenant := billed_tenant()) is not None:
            cost = tokens / 1_000_000 * self._prices.get(kind, 0.0)
            operation = _OPERATIONS[kind]
            self._count(tenant, operation, "", UsageAmounts(tokens=tokens, cost=cost))
            self._metrics.tokens(tenant, operation, tokens, cost)

    def chunks(self, tenant: str, source: str, embedded: int, reused: int) -> None:
        """Count the chunks of a document that was written or found unchanged."""
        self._metrics.document(embedded + reused)
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
        return limit is not None and month.cost >= limit

    async def flush(self) -> None:
        await self.pending.flush()

    def drop_cached(self, tenant: str) -> None:
        """Forget the cached month, so that a new limit holds in this process at once."""
        self._months.pop(tenant, None)

    def _count(self, tenant: str, operation: str, source: str, amounts: UsageAmounts) -> None:
        key = UsageKey(tenant, self._today(), operation, source)
        self.pending.add(tenant, key, amounts)
        if (month := self._months.get(tenant)) is not None:
            month.cost += amounts.cost

    def _today(self) -> date:
        return self._now().date()


@asynccontextmanager
async def open_usage_meter(
    settings: Settings, metrics: Metrics, database: Database
) -> AsyncIterator[PricedUsageMeter]:
    """A meter with the configured prices and budget."""
    prices = settings.prices
    meter = PricedUsageMeter(
        UsageStore(database),
        utc_now,
        UsageMetrics(metrics),
        prices={
            "query": prices.get("embedding", 0.0),
            "batch": prices.get("embedding", 0.0),
            **{f"{name}_input": prices.get("chat_input", 0.0) for name in OPERATIONS},
            **{f"{name}_output": prices.get("chat_output", 0.0) for name in OPERATIONS},
        },
        budget=settings.budget_month,
    )
    async with meter.pending.background_flush():
        yield meter


def _sum(earlier: UsageAmounts, later: UsageAmounts) -> UsageAmounts:
    earlier.add(later)
    return earlier
