"""The operator creates tenants."""

from starlette.responses import Response

from gateway.admin.tenant_schemas import TenantAnswer, TenantBody
from gateway.http.request.request_context import RequestContext
from gateway.http.responses import json_response
from gateway.problems import problems
from gateway.stores import Stores


async def create_tenant(context: RequestContext[Stores]) -> Response:
    body = await context.parse_body(TenantBody)
    name = body.name or body.id
    if not await context.services.tenants.create(body.id, name):
        raise problems.conflict(
            "id", "A tenant with this identifier exists. Choose another identifier."
        )
    return json_response(TenantAnswer(id=body.id, name=name), 201)
