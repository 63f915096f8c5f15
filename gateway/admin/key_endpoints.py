"""Keys, by the operator and a tenant's admins; tokens, by whoever wants to do with less."""

from dataclasses import asdict
from datetime import timedelta
from typing import Any

from starlette.responses import Response

from gateway import problems, schemas
from gateway.admin.key_schemas import (
    KeyAnswer,
    KeyBody,
    KeysAnswer,
    KeySummary,
    RotateBody,
    TokenAnswer,
    TokenBody,
)
from gateway.auth.authenticator import utc_now
from gateway.auth.credentials import key_digest, make_key, make_secret, narrow_token, new_id
from gateway.http.request_context import RequestContext, json_response
from index.tenants.principals import ShownKey

_PAGE_MAX = 100


async def create_key(context: RequestContext) -> Response:
    """An admin makes keys of its own tenant; of others it is told that they don't exist."""
    own = await _own_tenant(context)
    body = context.parse_body(KeyBody)
    tenant = _tenant(own, body.tenant)
    key, kept = make_key(
        subject=body.subject,
        name=body.name,
        groups=body.groups,
        roles=body.roles,
        scopes=body.scopes,
        expires_at=body.expires_at,
    )
    if not await context.services.principals.create(tenant, kept):
        raise _no_such_tenant()
    return json_response(KeyAnswer(id=kept.key_id, key=key), 201)


def _tenant(own: str | None, named: str | None) -> str:
    """The tenant of the call: an admin's own, which it need not name; the operator names one."""
    tenant = named or own
    if tenant is None:
        raise problems.invalid_field("tenant", "must be named by the operator")
    if own not in (None, tenant):
        raise _no_such_tenant()
    return tenant


async def list_keys(context: RequestContext) -> Response:
    """In the order of their identifiers; `cursor` is the last one of the page before."""
    own = await _own_tenant(context)
    query = context.request.query_params
    named = query.get("tenant")
    if named is not None:
        named = schemas.parse_value("tenant", schemas.TENANT, named)
    tenant = _tenant(own, named)
    page = await context.services.principals.page(
        tenant,
        after=schemas.parse_value("cursor", schemas.LINE, query.get("cursor", "")),
        limit=_PAGE_MAX + 1,
    )
    shown = page[:_PAGE_MAX]
    cursor = shown[-1].key_id if len(page) > len(shown) else None
    return json_response(KeysAnswer(keys=tuple(map(_summary, shown)), cursor=cursor))


async def rotate_key(context: RequestContext) -> Response:
    """A new key for the same holder; the old one works a while longer."""
    own = await _own_tenant(context)
    key_id = _key_id(context)
    body = schemas.parse(RotateBody, context.body or b"{}")
    key, new = make_secret(), new_id("key")
    until = utc_now() + timedelta(seconds=body.overlap_s)
    if not await context.services.principals.rotate(own, key_id, new, key_digest(key), until):
        raise _no_such_key()
    return json_response(KeyAnswer(id=new, key=key), 201)


async def revoke_key(context: RequestContext) -> Response:
    """It stops working at the next request, on every worker, and all tokens made with it."""
    principal = await context.operator_or_principal()
    tenant = None if principal is None else principal.tenant
    if not await context.services.principals.revoke(tenant, _key_id(context)):
        raise _no_such_key()
    return Response(status_code=204)


async def create_token(context: RequestContext) -> Response:
    principal = (await context.authenticate()).principal
    body = context.parse_body(TokenBody)
    token, kept = narrow_token(principal, body, utc_now())
    if not await context.services.principals.create(principal.tenant, kept):
        raise problems.unauthorized()  # revoked a moment ago
    assert kept.expires_at is not None, "each token ends"
    return json_response(TokenAnswer(id=kept.key_id, token=token, expires_at=kept.expires_at), 201)


async def revoke_token(context: RequestContext) -> Response:
    """A token ends itself and those made with it; a key, or a person, any of its subject's."""
    principal = (await context.authenticate()).principal
    if not await context.services.principals.revoke_token(principal, _key_id(context)):
        raise _no_such_key()
    return Response(status_code=204)


async def _own_tenant(context: RequestContext) -> str | None:
    """None for the operator. A token would outlive itself by what it makes, so it makes nothing."""
    principal = await context.operator_or_principal()
    if principal is None:
        return None
    if principal.is_token:
        raise problems.forbidden("A token can't see or make keys; use the key it was made with.")
    return principal.tenant


def _key_id(context: RequestContext) -> str:
    return schemas.parse_value("key_id", schemas.NAME, context.request.path_params["key_id"])


def _summary(key: ShownKey) -> KeySummary:
    told: dict[str, Any] = asdict(key)
    return KeySummary(id=told.pop("key_id"), **told)


def _no_such_tenant() -> problems.Problem:
    return problems.not_found("tenant", "There is no such tenant.")


def _no_such_key() -> problems.Problem:
    return problems.not_found("key_id", "There is no such key that works.")
