"""A tenant's budget and quotas."""

from dataclasses import asdict

from starlette.responses import Response

from gateway.extension import (
    RequestContext,
    Services,
    json_response,
    problems,
    utc_now,
)
from gateway.extensions._tenants.path_tenant import named_tenant, own_tenant
from gateway.extensions._tenants.usage_store import UsageStore
from gateway.extensions.budgets.budget_schemas import BudgetBody, QuotasBody
from gateway.extensions.budgets.budget_store import BudgetStore
from index.model.quota import Quotas


async def get_budget(context: RequestContext[Services]) -> Response:
    """The tenant's own budget, as `put_budget` takes it."""
    tenant = await own_tenant(context)
    if not await context.services.stores.tenants.exists(tenant):
        raise problems.not_found("tenant", "The tenant does not exist.")
    usage = UsageStore(context.services.stores.database)
    month = await usage.month(tenant, utc_now().date())
    return json_response(BudgetBody(budget_month=month.budget))


async def put_budget(context: RequestContext[Services]) -> Response:
    """Set the budget and run the jobs that waited for it."""
    tenant = named_tenant(context)
    body = await context.parse_body(BudgetBody)
    budgets = BudgetStore(context.services.stores.database)
    if not await budgets.put(tenant, body.budget_month):
        raise problems.not_found("tenant", "The tenant does not exist.")
    context.services.usage_meter.drop_cached(tenant)
    await context.services.stores.jobs.run_now(tenant)
    return Response(status_code=204)


async def get_quotas(context: RequestContext[Services]) -> Response:
    """The tenant's own quotas, as `put_quotas` takes them."""
    own = await context.services.stores.quotas.own(await own_tenant(context))
    if own is None:
        raise problems.not_found("tenant", "The tenant does not exist.")
    return json_response(QuotasBody(**asdict(own)))


async def put_quotas(context: RequestContext[Services]) -> Response:
    """Set all quotas; a write that is being committed is compared with the earlier ones."""
    tenant = named_tenant(context)
    body = await context.parse_body(QuotasBody)
    own = Quotas(body.documents, body.chunks, body.bytes, body.sources)
    if not await context.services.stores.quotas.put(tenant, own):
        raise problems.not_found("tenant", "The tenant does not exist.")
    return Response(status_code=204)
