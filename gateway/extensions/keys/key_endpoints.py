"""Keys, for the operator and admins; tokens with narrower rights, for every caller."""

from dataclasses import asdict
from datetime import timedelta
from typing import Any

from starlette.responses import Response

from gateway.extension import (
    RequestContext,
    Stores,
    encoded_page,
    json_response,
    key_digest,
    make_secret,
    maker_for_admin,
    maker_of,
    narrow_token,
    new_id,
    problems,
    schemas,
    utc_now,
)
from gateway.extensions.keys.key_schemas import (
    KeyAnswer,
    KeyBody,
    KeySummary,
    RotateBody,
    TokenAnswer,
    TokenBody,
    TokenSummary,
)
from index.tenants.keys import ShownKey, ShownToken

_PAGE_MAX = 100


async def create_key(context: RequestContext[Stores]) -> Response:
    """Create a key. For an admin, tenants other than its own do not exist."""
    own = await _own_tenant(context)
    body = await context.parse_body(KeyBody)
    tenant = _tenant(own, body.tenant)
    key, record = body.new_key()
    if not await context.services.keys.create(tenant, record):
        raise _no_such_tenant()
    return json_response(KeyAnswer(id=record.key_id, key=key), 201)


def _tenant(own: str | None, requested: str | None) -> str:
    """The tenant of the request: an admin's own tenant, or the one that the operator names."""
    tenant = requested or own
    if tenant is None:
        raise problems.invalid_field("tenant", "must be set if the operator calls")
    if own not in (None, tenant):
        raise _no_such_tenant()
    return tenant


async def list_keys(context: RequestContext[Stores]) -> Response:
    """List keys by identifier; `cursor` is the last identifier of the previous page."""
    own = await _own_tenant(context)
    query = context.request.query_params
    requested = query.get("tenant")
    if requested is not None:
        requested = schemas.parse_value("tenant", schemas.TENANT, requested)
    tenant = _tenant(own, requested)
    rows = await context.services.keys.page(
        tenant,
        after=schemas.parse_value("cursor", schemas.LINE, query.get("cursor", "")),
        limit=_PAGE_MAX + 1,
    )
    page = rows[:_PAGE_MAX]
    cursor = page[-1].key_id if len(rows) > len(page) else None
    return json_response(await encoded_page("keys", page, _summary, cursor))


async def rotate_key(context: RequestContext[Stores]) -> Response:
    """Create a new key for the same holder; the old key expires after `overlap_s`."""
    own = await _own_tenant(context)
    key_id = _key_id(context)
    body = schemas.parse(RotateBody, context.body or b"{}")
    key, new_key_id = make_secret(), new_id("key")
    until = utc_now() + timedelta(seconds=body.overlap_s)
    rotate = context.services.keys.rotate
    if not await rotate(own, key_id, new_key_id, key_digest(key), until):
        raise _no_such_key()
    return json_response(KeyAnswer(id=new_key_id, key=key), 201)


async def revoke_key(context: RequestContext[Stores]) -> Response:
    """Revoke a key and all tokens made with it, on every worker from the next request on."""
    principal = await context.operator_or_principal()
    tenant = None if principal is None else principal.tenant
    if not await context.services.keys.revoke(tenant, _key_id(context)):
        raise _no_such_key()
    return Response(status_code=204)


async def create_token(context: RequestContext[Stores]) -> Response:
    principal = (await context.authenticate()).principal
    body = await context.parse_body(TokenBody)
    token, record = narrow_token(
        principal,
        utc_now(),
        lifetime=timedelta(seconds=body.expires_in_s),
        name=body.name,
        roles=body.roles,
        read_only=body.read_only,
        scopes=body.scopes,
        groups=body.groups,
        limits=None if body.filter is None else body.filter.canonical(),
    )
    if not await context.services.keys.create(principal.tenant, record):
        raise problems.unauthorized()  # the key was revoked after authentication
    assert record.expires_at is not None, "every token expires"
    answer = TokenAnswer(id=record.key_id, token=token, expires_at=record.expires_at)
    return json_response(answer, 201)


async def list_tokens(context: RequestContext[Stores]) -> Response:
    """List tokens that work: an admin's key sees the tenant's, others their subject's.

    A token sees itself and its descendants, as it may revoke no others.
    """
    principal = (await context.authenticate()).principal
    rows = await context.services.keys.tokens_page(
        maker_of(principal) if principal.is_token else maker_for_admin(principal),
        after=schemas.parse_value(
            "cursor", schemas.LINE, context.request.query_params.get("cursor", "")
        ),
        limit=_PAGE_MAX + 1,
    )
    page = rows[:_PAGE_MAX]
    cursor = page[-1].key_id if len(rows) > len(page) else None
    return json_response(await encoded_page("tokens", page, _token_summary, cursor))


async def revoke_token(context: RequestContext[Stores]) -> Response:
    """Revoke a token. A token may revoke itself and its descendants; a key all of its subject's."""
    principal = (await context.authenticate()).principal
    if not await context.services.keys.revoke_token(maker_of(principal), _key_id(context)):
        raise _no_such_key()
    return Response(status_code=204)


async def _own_tenant(context: RequestContext[Stores]) -> str | None:
    """The caller's tenant, None for the operator. A token is refused: its keys would outlive it."""
    principal = await context.operator_or_principal()
    if principal is None:
        return None
    if principal.is_token:
        raise problems.forbidden(
            "A token can't list or create keys. Use the key that the token was made with."
        )
    return principal.tenant


def _key_id(context: RequestContext[Stores]) -> str:
    return schemas.parse_value("key_id", schemas.ID, context.request.path_params["key_id"])


def _summary(key: ShownKey) -> KeySummary:
    fields: dict[str, Any] = asdict(key)
    return KeySummary(id=fields.pop("key_id"), **fields)


def _token_summary(token: ShownToken) -> TokenSummary:
    fields: dict[str, Any] = asdict(token)
    return TokenSummary(id=fields.pop("key_id"), **fields)


def _no_such_tenant() -> problems.Problem:
    return problems.not_found("tenant", "The tenant does not exist.")


def _no_such_key() -> problems.Problem:
    return problems.not_found("key_id", "The key does not exist, or is revoked or expired.")
