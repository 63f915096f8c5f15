"""What tenants use of embedders: counted as it happens, kept in batches, held against their limits.

A process that is killed loses what it counted within FLUSH_S.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import date, datetime

from cachetools import TTLCache

from gateway.auth.authenticator import utc_now
from gateway.background_flush import FlushBuffer
from gateway.settings import Settings
from index.errors import BudgetSpent
from index.tenants.usage import MonthlyUsage, UsageAmounts, UsageKey, UsageStore
from ingest.billing_context import billed_tenant

FLUSH_S = 2.0
KEYS_MAX = 100_000  # a day's operations of tenants and sources that wait to be stored; 40 MB
LOOK_S = 5.0  # between two looks at what a tenant has spent this month
_TENANTS_MAX = 10_000
# What a language model is asked for.
OPERATIONS = ("cut", "summary", "rewrite", "rerank", "compress", "answer")
# By the kind of tokens: those of an embedder, and those that a language model reads and writes.
_OPERATIONS = {
    "query": "search",
    "batch": "ingest",
    **{f"{name}_{kind}": name for name in OPERATIONS for kind in ("read", "written")},
}


class UsageMeter:
    """prices: for a million tokens of each kind that clients tell of; what has none costs nothing.

    budget: of a tenant for a month; None if there is no limit.
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
        self._counted: FlushBuffer[UsageKey, UsageAmounts] = FlushBuffer(
            "usage", usage.add, _sum, every_s=FLUSH_S, items_max=KEYS_MAX
        )
        self._months: TTLCache[str, MonthlyUsage] = TTLCache(_TENANTS_MAX, LOOK_S)

    def tokens(self, kind: str, used: int) -> None:
        """A service's client says what a call used."""
        if (tenant := billed_tenant()) is not None:
            money = used / 1_000_000 * self._prices.get(kind, 0.0)
            self._count(tenant, _OPERATIONS[kind], "", UsageAmounts(tokens=used, money=money))

    def chunks(self, tenant: str, source: str, embedded: int, reused: int) -> None:
        """A document was written, or found unchanged."""
        if embedded or reused:
            self._count(tenant, "ingest", source, UsageAmounts(embedded=embedded, reused=reused))

    async def check(self) -> None:
        """Raise `BudgetSpent` if who would pay for an embedding now has nothing left for it."""
        tenant = billed_tenant()
        if tenant is not None and await self.is_budget_spent(tenant):
            raise BudgetSpent(tenant)

    async def is_budget_spent(self, tenant: str) -> bool:
        """What others have spent counts within a few seconds; what costs nothing never does."""
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
        """Another limit holds from now on, as far as this process is concerned."""
        self._months.pop(tenant, None)

    async def flush(self) -> None:
        """Store what was counted. Raises `DatabaseUnavailable`; the counts stay for the next."""
        await self._counted.flush()

    def background_flush(self) -> AbstractAsyncContextManager[None]:
        """Store what is counted every FLUSH_S, and the rest at the end."""
        return self._counted.background_flush()

    def _count(self, tenant: str, operation: str, source: str, amounts: UsageAmounts) -> None:
        self._counted.add(UsageKey(tenant, self._today(), operation, source), amounts)
        if (month := self._months.get(tenant)) is not None:
            month.money += amounts.money

    def _today(self) -> date:
        return self._now().date()


def build(settings: Settings, usage: UsageStore) -> UsageMeter:
    return UsageMeter(
        usage,
        utc_now,
        prices={
            "query": settings.price_embedding,
            "batch": settings.price_embedding,
            **{f"{name}_read": settings.price_chat_read for name in OPERATIONS},
            **{f"{name}_written": settings.price_chat_written for name in OPERATIONS},
        },
        budget=settings.budget_month,
    )


def _sum(earlier: UsageAmounts, later: UsageAmounts) -> UsageAmounts:
    earlier.add(later)
    return earlier
