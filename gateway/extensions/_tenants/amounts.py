"""What a tenant uses of its budget and of its quotas."""

from datetime import date

from gateway.extension import Services, utc_now
from gateway.extensions._tenants.amount_schemas import QuotaAnswer, QuotasAnswer
from gateway.extensions._tenants.usage_store import MonthlyUsage, UsageStore
from index.model.quota import Quotas, StoredAmounts


async def month_of(services: Services, tenant: str) -> MonthlyUsage:
    """The tenant's cost of this month so far, and the limit that applies."""
    first = await current_month(services)
    month = await UsageStore(services.stores.database).month(tenant, first)
    return MonthlyUsage(month.cost, budget_of(services, month))


async def current_month(services: Services) -> date:
    """The month's first day, once the usage that this process has counted is stored."""
    await services.usage_meter.flush()
    return utc_now().date().replace(day=1)


def budget_of(services: Services, month: MonthlyUsage) -> float | None:
    """The limit that applies: the tenant's own, or that of all tenants."""
    return services.settings.budget_month if month.budget is None else month.budget


def quotas_answer(stored: StoredAmounts, quotas: Quotas) -> QuotasAnswer:
    return QuotasAnswer(
        documents=QuotaAnswer(used=stored.documents, limit=quotas.documents),
        chunks=QuotaAnswer(used=stored.chunks, limit=quotas.chunks),
        bytes=QuotaAnswer(used=stored.bytes, limit=quotas.bytes),
        sources=QuotaAnswer(used=stored.sources, limit=quotas.sources),
    )
