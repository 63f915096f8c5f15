"""Tenants and groups: the operator's calls, and an admin's for its own tenant."""

from starlette.responses import Response

from gateway import problems, schemas
from gateway.admin.admin_services import AdminServices
from gateway.admin.tenant_schemas import TenantAnswer, TenantBody
from gateway.http.request_context import RequestContext
from gateway.http.responses import json_response


async def create_tenant(exchange: RequestContext[AdminServices]) -> Response:
    body = exchange.parse_body(TenantBody)
    name = body.name or body.id
    if not await exchange.services.tenants.create(body.id, name):
        raise problems.conflict("id", "There is a tenant with this identifier already.")
    return json_response(TenantAnswer(id=body.id, name=name), 201)


async def add_member(exchange: RequestContext[AdminServices]) -> Response:
    admitted = await exchange.authenticate()
    group, subject = _membership(exchange)
    await exchange.services.tenants.add_member(admitted.principal.tenant, group, subject)
    return Response(status_code=204)


async def remove_member(exchange: RequestContext[AdminServices]) -> Response:
    admitted = await exchange.authenticate()
    group, subject = _membership(exchange)
    await exchange.services.tenants.remove_member(admitted.principal.tenant, group, subject)
    return Response(status_code=204)


def _membership(exchange: RequestContext[AdminServices]) -> tuple[str, str]:
    names = exchange.request.path_params
    group = schemas.parse_value("group", schemas.NAME, names["group"])
    return group, schemas.parse_value("subject", schemas.NAME, names["subject"])
