"""Tenants, for the operator; one tenant, and what its admin decides about it, for an admin."""

from typing import Any, cast, get_args

from starlette.responses import Response

from cache.errors import CacheUnavailable
from cache.redis.store import RedisStore
from gateway.extension import RequestContext, Services, json_response, problems, schemas
from gateway.extensions._tenants.amounts import budget_of, current_month, quotas_answer
from gateway.extensions._tenants.path_tenant import own_tenant
from gateway.extensions.tenants.tenant_choices import TenantChoices
from gateway.extensions.tenants.tenant_overview import TenantOrder, TenantOverview, TenantSummary
from gateway.extensions.tenants.tenant_schemas import (
    CacheClearedAnswer,
    ConsistencyAnswer,
    ConsistencyBody,
    PublicDocumentsAnswer,
    PublicDocumentsBody,
    SharedAnswersBody,
    TenantInventoryAnswer,
    TenantsAnswer,
    TenantSummaryBody,
)

_PAGE_MAX = 100


async def list_tenants(context: RequestContext[Services]) -> Response:
    """List tenants by identifier or cost; `cursor` is the last identifier of the previous page."""
    query = context.request.query_params
    line = {
        name: schemas.parse_value(name, schemas.LINE, query.get(name, ""))
        for name in ("cursor", "contains")
    }
    order = query.get("order", "id")
    if order not in get_args(TenantOrder):
        raise problems.invalid_field("order", f"must be one of {', '.join(get_args(TenantOrder))}")
    rows = await TenantOverview(context.services.stores.database).page(
        after=line["cursor"],
        limit=_PAGE_MAX + 1,
        month=await current_month(context.services),
        contains=line["contains"],
        order=cast("TenantOrder", order),
    )
    page = rows[:_PAGE_MAX]
    return json_response(
        TenantsAnswer(
            tenants=tuple(TenantSummaryBody(**_summary(context.services, row)) for row in page),
            cursor=page[-1].tenant if len(rows) > len(page) else None,
        )
    )


async def get_tenant(context: RequestContext[Services]) -> Response:
    tenant = await own_tenant(context)
    month = await current_month(context.services)
    inventory = await TenantOverview(context.services.stores.database).inventory(tenant, month)
    if inventory is None:
        raise problems.not_found("tenant", "The tenant does not exist.")
    return json_response(
        TenantInventoryAnswer(
            **_summary(context.services, inventory.summary),
            sources=inventory.summary.stored.sources,
            groups=inventory.groups,
            keys=inventory.keys,
            languages=inventory.languages,
            revision=inventory.revision,
            access_revision=inventory.access_revision,
            cache_entries=await _cache_entries(context.services.caches.store, tenant),
            quotas=quotas_answer(*await context.services.stores.quotas.get(tenant)),
        )
    )


async def clear_cache(context: RequestContext[Services]) -> Response:
    """End all cached answers of the tenant; requests that arrive after the response see none."""
    revision = await context.services.stores.tenants.invalidate(await own_tenant(context))
    if revision is None:
        raise problems.not_found("tenant", "The tenant does not exist.")
    return json_response(CacheClearedAnswer(revision=revision))


async def _cache_entries(store: RedisStore, tenant: str) -> int | None:
    try:
        return await store.entry_count(tenant)
    except CacheUnavailable:
        return None


def _summary(services: Services, summary: TenantSummary) -> dict[str, Any]:
    return {
        "id": summary.tenant,
        "name": summary.name,
        "created_at": summary.created_at,
        "is_being_deleted": summary.is_being_deleted,
        "documents": summary.stored.documents,
        "chunks": summary.stored.chunks,
        "bytes": summary.stored.bytes,
        "cost_month": round(summary.month.cost, 6),
        "budget_month": budget_of(services, summary.month),
    }


async def get_consistency(context: RequestContext[Services]) -> Response:
    caller = await context.authenticate()
    return json_response(ConsistencyAnswer(max_staleness_ms=caller.principal.max_staleness_ms))


async def put_consistency(context: RequestContext[Services]) -> Response:
    """Limit the staleness; an answer from an earlier reading still has the limit of that time."""
    tenant = (await context.authenticate()).principal.tenant
    body = await context.parse_body(ConsistencyBody)
    await _choices(context).put_max_staleness(tenant, body.max_staleness_ms)
    return json_response(ConsistencyAnswer(max_staleness_ms=body.max_staleness_ms))


async def get_public_documents(context: RequestContext[Services]) -> Response:
    principal = (await context.authenticate()).principal
    receives = await context.services.stores.tenants.receives_public(principal.tenant)
    return json_response(_public_documents(context, receives=receives))


async def put_public_documents(context: RequestContext[Services]) -> Response:
    """Receive other tenants' public documents or not, from the next request of each caller on."""
    tenant = (await context.authenticate()).principal.tenant
    body = await context.parse_body(PublicDocumentsBody)
    await _choices(context).put_receives_public(tenant, receives=body.receives)
    return json_response(_public_documents(context, receives=body.receives))


async def get_shared_answers(context: RequestContext[Services]) -> Response:
    principal = (await context.authenticate()).principal
    shares = await _choices(context).shares_answers(principal.tenant)
    return json_response(SharedAnswersBody(shares=shares))


async def put_shared_answers(context: RequestContext[Services]) -> Response:
    """Who shares answers, from the next request of each caller on."""
    tenant = (await context.authenticate()).principal.tenant
    body = await context.parse_body(SharedAnswersBody)
    await _choices(context).put_shares_answers(tenant, shares=body.shares)
    return json_response(body)


def _public_documents(
    context: RequestContext[Services], *, receives: bool
) -> PublicDocumentsAnswer:
    return PublicDocumentsAnswer(receives=receives, allowed=context.http.settings.public_documents)


def _choices(context: RequestContext[Services]) -> TenantChoices:
    return TenantChoices(context.services.stores.database)
