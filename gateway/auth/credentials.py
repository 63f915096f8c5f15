"""Keys, and tokens that are narrower than what they were made with: never wider, whoever asks."""

import secrets
from dataclasses import replace
from datetime import datetime, timedelta

from gateway import problems
from gateway.admin.key_schemas import TokenBody
from gateway.auth.authenticator import SUFFICIENT, Role, digest_of
from gateway.logs import KEY_START
from index.model.scope import SCOPE_NAMES, ScopeName
from index.tenants.principals import NewKey, Principal

_STAND_IN = timedelta(days=7)  # as long as work may wait for its turn; a starting value


def make_secret() -> str:
    """256 random bits, shown once."""
    return KEY_START + secrets.token_urlsafe(32)


def key_digest(key: str) -> bytes:
    return digest_of(key.encode())


def new_id(kind: str) -> str:
    """kind: `key` or `tok`."""
    return f"{kind}_{secrets.token_hex(8)}"


def make_key(
    *,
    subject: str,
    name: str = "",
    groups: tuple[str, ...] = (),
    roles: tuple[Role, ...],
    scopes: tuple[ScopeName, ...] = SCOPE_NAMES,
    expires_at: datetime | None = None,
) -> tuple[str, NewKey]:
    """A key, and what is kept of it."""
    key = make_secret()
    return key, NewKey(
        key_id=new_id("key"),
        digest=key_digest(key),
        subject=subject,
        groups=groups,
        roles=roles,
        expires_at=expires_at,
        name=name,
        scopes=_in_order(scopes),
    )


def narrow_token(principal: Principal, body: TokenBody, now: datetime) -> tuple[str, NewKey]:
    """A token for less than the principal may do, and what is kept of it.

    Raises a 422 `Problem` that names what would have been more.
    """
    token = make_secret()
    roles = _roles(principal, body)
    for field, asked, held in (
        ("scopes", body.scopes, principal.scopes),
        ("groups", body.groups, principal.groups),
    ):
        if wider := set(asked or ()) - set(held):
            told = ", ".join(sorted(wider))
            raise problems.invalid_field(field, f"can only narrow; {told} is not yours")
    wanted = principal.filter
    if body.filter is not None:
        wanted = body.filter.canonical().narrowed(principal.filter)
    ends_at = now + timedelta(seconds=body.expires_in_s)
    return token, NewKey(
        key_id=new_id("tok"),
        digest=key_digest(token),
        subject=principal.subject,
        groups=principal.claims.groups if principal.claims else (),
        roles=roles,
        expires_at=min(ends_at, principal.expires_at or ends_at),
        name=body.name,
        scopes=_in_order(body.scopes or principal.scopes),
        is_token=True,
        made_with=principal.key_id,
        groups_only=body.groups,
        filter=wanted,
        issuer_key=principal.issuer_key,
    )


def issue_job_token(principal: Principal, now: datetime) -> NewKey:
    """A token that nobody holds, for work that outlives the web token it was asked for with."""
    _, token = narrow_token(principal, TokenBody(), now)
    return replace(token, expires_at=now + _STAND_IN, issuer_key=None)


def _roles(principal: Principal, body: TokenBody) -> tuple[str, ...]:
    is_read_only = body.read_only or body.filter is not None
    asked = ("reader",) if is_read_only and body.roles is None else body.roles
    if asked is None:
        return principal.roles
    if is_read_only and asked != ("reader",):
        raise problems.invalid_field(
            "roles", "must be reader where there is a filter, or read_only"
        )
    for role in asked:
        if SUFFICIENT[role].isdisjoint(principal.roles):
            raise problems.invalid_field("roles", f"can only narrow; {role} is not yours")
    return asked


def _in_order(scopes: tuple[ScopeName, ...]) -> tuple[ScopeName, ...]:
    return tuple(name for name in SCOPE_NAMES if name in scopes)
