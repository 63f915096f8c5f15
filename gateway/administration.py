"""Tenants, keys and groups: the operator's calls, and an admin's for its own tenant."""

from starlette.responses import Response

from gateway import problems, wire
from gateway.exchange import Exchange, answer
from gateway.principal import make_key
from gateway.wire import KeyAnswer, KeyBody, TenantAnswer, TenantBody

_BODY_BYTES_MAX = 65_536


async def create_tenant(exchange: Exchange) -> Response:
    await exchange.require_operator()
    body = await exchange.parse(TenantBody, _BODY_BYTES_MAX)
    name = body.name or body.id
    if not await exchange.services.tenants.create(body.id, name):
        raise problems.conflict("id", "There is a tenant with this identifier already.")
    return answer(TenantAnswer(id=body.id, name=name), 201)


async def create_key(exchange: Exchange) -> Response:
    """An admin makes keys of its own tenant; of others it is told that they don't exist."""
    own = None if exchange.is_operator else (await exchange.admit()).holder.tenant
    body = await exchange.parse(KeyBody, _BODY_BYTES_MAX)
    tenant = body.tenant or own
    if tenant is None:
        raise problems.invalid_field("tenant", "must be named by the operator")
    if own not in (None, tenant):
        raise _no_such_tenant()
    key, kept = make_key(
        subject=body.subject, groups=body.groups, roles=body.roles, expires_at=body.expires_at
    )
    if not await exchange.services.tenants.create_key(tenant, kept):
        raise _no_such_tenant()
    return answer(KeyAnswer(id=kept.key_id, key=key), 201)


async def revoke_key(exchange: Exchange) -> Response:
    """It stops working at the next request, on every worker."""
    tenant = None if exchange.is_operator else (await exchange.admit()).holder.tenant
    key_id = wire.checked("key_id", wire.NAME, exchange.request.path_params["key_id"])
    if not await exchange.services.tenants.revoke_key(tenant, key_id):
        raise problems.not_found("key_id", "There is no such key that works.")
    return Response(status_code=204)


async def add_member(exchange: Exchange) -> Response:
    admitted = await exchange.admit()
    group, subject = _membership(exchange)
    await exchange.services.tenants.add_member(admitted.holder.tenant, group, subject)
    return Response(status_code=204)


async def remove_member(exchange: Exchange) -> Response:
    admitted = await exchange.admit()
    group, subject = _membership(exchange)
    await exchange.services.tenants.remove_member(admitted.holder.tenant, group, subject)
    return Response(status_code=204)


def _membership(exchange: Exchange) -> tuple[str, str]:
    names = exchange.request.path_params
    group = wire.checked("group", wire.NAME, names["group"])
    return group, wire.checked("subject", wire.NAME, names["subject"])


def _no_such_tenant() -> problems.Problem:
    return problems.not_found("tenant", "There is no such tenant.")
