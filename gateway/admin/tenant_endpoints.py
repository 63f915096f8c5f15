"""Tenants, for the operator; staleness, for an admin of the tenant."""

from starlette.responses import Response

from gateway import problems
from gateway.admin.admin_services import AdminServices
from gateway.admin.tenant_schemas import (
    ConsistencyAnswer,
    ConsistencyBody,
    TenantAnswer,
    TenantBody,
)
from gateway.http.request_context import RequestContext
from gateway.http.responses import json_response


async def create_tenant(context: RequestContext[AdminServices]) -> Response:
    body = context.parse_body(TenantBody)
    name = body.name or body.id
    if not await context.services.tenants.create(body.id, name):
        raise problems.conflict(
            "id", "A tenant with this identifier exists. Choose another identifier."
        )
    return json_response(TenantAnswer(id=body.id, name=name), 201)


async def get_consistency(context: RequestContext[AdminServices]) -> Response:
    caller = await context.authenticate()
    return json_response(ConsistencyAnswer(max_staleness_ms=caller.principal.max_staleness_ms))


async def put_consistency(context: RequestContext[AdminServices]) -> Response:
    """Limit the staleness; an answer from an earlier reading still has the limit of that time."""
    tenant = (await context.authenticate()).principal.tenant
    body = context.parse_body(ConsistencyBody)
    await context.services.tenants.put_max_staleness(tenant, body.max_staleness_ms)
    return json_response(ConsistencyAnswer(max_staleness_ms=body.max_staleness_ms))
