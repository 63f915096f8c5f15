"""A tenant's usage, its budget and quotas, and how far its index is behind."""

from dataclasses import asdict

from starlette.responses import Response

from gateway import problems
from gateway.admin.activity.usage_schemas import (
    BudgetBody,
    DayAnswer,
    QuotaAnswer,
    QuotasAnswer,
    QuotasBody,
    SourceStatusBody,
    StatusAnswer,
    UsageAnswer,
)
from gateway.admin.admin_services import AdminServices
from gateway.admin.path_tenant import named_tenant, own_tenant
from gateway.auth.authenticator import utc_now
from gateway.http.request_context import RequestContext
from gateway.http.responses import json_response
from index.model.quota import Quotas, StoredAmounts
from index.tenants.usage import IngestStatus, MonthlyUsage

_DAYS_MAX = 366


async def get_usage(context: RequestContext[AdminServices]) -> Response:
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
    month = await month_of(context, tenant)
    days = await services.stores.usage.days(tenant, first, last)
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


async def month_of(context: RequestContext[AdminServices], tenant: str) -> MonthlyUsage:
    """The tenant's cost of this month so far, and the limit that applies."""
    services = context.services
    await services.usage_meter.pending.flush()
    month = await services.stores.usage.month(tenant, utc_now().date().replace(day=1))
    is_default = month.budget is None
    return MonthlyUsage(month.cost, services.settings.budget_month if is_default else month.budget)


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


async def get_status(context: RequestContext[AdminServices]) -> Response:
    caller = await context.authenticate()
    await context.services.usage_meter.pending.flush()
    sources = await context.services.stores.usage.status(caller.principal.tenant)
    audit = await context.services.stores.audits.last(caller.principal.tenant)
    waits_s = [source.oldest_waiting_s for source in sources if source.oldest_waiting_s is not None]
    return json_response(
        StatusAnswer(
            waiting=sum(source.waiting for source in sources),
            running=sum(source.running for source in sources),
            failed=sum(source.failed for source in sources),
            oldest_waiting_s=_rounded(max(waits_s, default=None)),
            lag_s=round(max((source.lag_s for source in sources), default=0.0), 3),
            texts_embedded=sum(source.embedded for source in sources),
            embeddings_reused=sum(source.reused for source in sources),
            chunks_without_vector=sum(source.without_vector for source in sources),
            audited_at=None if audit is None else audit.last_run_at,
            problems={} if audit is None else dict(audit.problems),
            sources=tuple(_source_status(source) for source in sources if source.source),
        )
    )


def quotas_answer(stored: StoredAmounts, quotas: Quotas) -> QuotasAnswer:
    return QuotasAnswer(
        documents=QuotaAnswer(used=stored.documents, limit=quotas.documents),
        chunks=QuotaAnswer(used=stored.chunks, limit=quotas.chunks),
        bytes=QuotaAnswer(used=stored.bytes, limit=quotas.bytes),
        sources=QuotaAnswer(used=stored.sources, limit=quotas.sources),
    )


def _source_status(status: IngestStatus) -> SourceStatusBody:
    return SourceStatusBody(
        source=status.source,
        waiting=status.waiting,
        running=status.running,
        failed=status.failed,
        oldest_waiting_s=_rounded(status.oldest_waiting_s),
        lag_s=round(status.lag_s, 3),
        texts_embedded=status.embedded,
        embeddings_reused=status.reused,
        chunks_without_vector=status.without_vector,
    )


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
