"""What a tenant has used, for an admin."""

from starlette.responses import Response

from gateway.extension import (
    RequestContext,
    json_response,
    problems,
    utc_now,
)
from gateway.extensions._tenants.amounts import month_of, quotas_answer
from gateway.extensions._tenants.shown_usage import ShownUsage
from gateway.extensions.activity.activity_services import ActivityServices
from gateway.extensions.activity.usage_schemas import DayAnswer, UsageAnswer

_DAYS_MAX = 366


async def get_usage(context: RequestContext[ActivityServices]) -> Response:
    """Usage by day and operation; `from` and `to` default to the current month."""
    caller = await context.authenticate()
    tenant, services = caller.principal.tenant, context.services
    today = utc_now().date()
    first, last = (
        context.day_parameter("from", today.replace(day=1)),
        context.day_parameter("to", today),
    )
    if not 0 <= (last - first).days < _DAYS_MAX:
        raise problems.invalid_field("to", f"must be within {_DAYS_MAX} days from `from`")
    month = await month_of(services.gateway, tenant)
    days = await ShownUsage(services.stores.database).days(tenant, first, last)
    return json_response(
        UsageAnswer(
            days=tuple(
                DayAnswer(
                    day=usage.day,
                    operation=usage.operation,
                    tokens=usage.tokens,
                    cost=round(usage.cost, 6),
                    texts_embedded=usage.embedded,
                    embeddings_reused=usage.reused,
                )
                for usage in days
            ),
            cost_month=round(month.cost, 6),
            budget_month=month.budget,
            quotas=quotas_answer(*await services.stores.quotas.get(tenant)),
        )
    )
