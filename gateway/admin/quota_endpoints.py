"""A tenant's budget and quotas."""

from dataclasses import asdict
from datetime import date

from starlette.responses import Response

from gateway import problems
from gateway.admin.admin_services import AdminServices
from gateway.admin.path_tenant import named_tenant, own_tenant
from gateway.admin.quota_schemas import BudgetBody, QuotaAnswer, QuotasAnswer, QuotasBody
from gateway.auth.authenticator import utc_now
from gateway.http.request_context import RequestContext
from gateway.http.responses import json_response
from index.model.quota import Quotas, StoredAmounts
from index.tenants.usage import MonthlyUsage


async def month_of(services: AdminServices, tenant: str) -> MonthlyUsage:
    """The tenant's cost of this month so far, and the limit that applies."""
    month = await services.stores.usage.month(tenant, await current_month(services))
    return MonthlyUsage(month.cost, budget_of(services, month))


async def current_month(services: AdminServices) -> date:
    """The month's first day, once the usage that this process has counted is stored."""
    await services.usage_meter.pending.flush()
    return utc_now().date().replace(day=1)


def budget_of(services: AdminServices, month: MonthlyUsage) -> float | None:
    """The limit that applies: the tenant's own, or that of all tenants."""
    return services.settings.budget_month if month.budget is None else month.budget


async def get_budget(context: RequestContext[AdminServices]) -> Response:
    """The tenant's own budget, as `put_budget` takes it."""
    tenant = await own_tenant(context)
    if not await context.services.stores.tenants.exists(tenant):
        raise problems.not_found("tenant", "The tenant does not exist.")
    month = await context.services.stores.usage.month(tenant, utc_now().date())
    return json_response(BudgetBody(budget_month=month.budget))


async def put_budget(context: RequestContext[AdminServices]) -> Response:
    """Set the budget and run the jobs that waited for it."""
    tenant = named_tenant(context)
    body = await context.parse_body(BudgetBody)
    if not await context.services.stores.usage.put_budget(tenant, body.budget_month):
        raise problems.not_found("tenant", "The tenant does not exist.")
    context.services.usage_meter.drop_cached(tenant)
    await context.services.stores.jobs.run_now(tenant)
    return Response(status_code=204)


async def get_quotas(context: RequestContext[AdminServices]) -> Response:
    """The tenant's own quotas, as `put_quotas` takes them."""
    own = await context.services.stores.quotas.own(await own_tenant(context))
    if own is None:
        raise problems.not_found("tenant", "The tenant does not exist.")
    return json_response(QuotasBody(**asdict(own)))


async def put_quotas(context: RequestContext[AdminServices]) -> Response:
    """Set all quotas; a write that is being committed is compared with the earlier ones."""
    tenant = named_tenant(context)
    body = await context.parse_body(QuotasBody)
    own = Quotas(body.documents, body.chunks, body.bytes, body.sources)
    if not await context.services.stores.quotas.put(tenant, own):
        raise problems.not_found("tenant", "The tenant does not exist.")
    return Response(status_code=204)


def quotas_answer(stored: StoredAmounts, quotas: Quotas) -> QuotasAnswer:
    return QuotasAnswer(
        documents=QuotaAnswer(used=stored.documents, limit=quotas.documents),
        chunks=QuotaAnswer(used=stored.chunks, limit=quotas.chunks),
        bytes=QuotaAnswer(used=stored.bytes, limit=quotas.bytes),
        sources=QuotaAnswer(used=stored.sources, limit=quotas.sources),
    )
