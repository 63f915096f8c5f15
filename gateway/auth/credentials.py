"""Creates keys, and tokens whose rights are at most those of the key they are made with."""

import secrets
from dataclasses import replace
from datetime import datetime, timedelta

from gateway.auth.authenticator import digest_of
from gateway.auth.roles import SUFFICIENT, Role
from gateway.monitoring.logs import KEY_START
from gateway.problems import problems
from index.model.provenance import AGENTS_MAX
from index.model.query import Filter
from index.model.scope import SCOPE_NAMES, ScopeName
from index.tenants.keys import NewKey
from index.tenants.principals import Principal

_JOB_TOKEN_LIFETIME = timedelta(days=7)  # a job may wait so long; a starting value


def bearer(authorization: bytes) -> bytes | None:
    """The credential in an Authorization header, None if it holds none."""
    scheme, _, rest = authorization.partition(b" ")
    credential = rest.strip()
    return credential if scheme.lower() == b"bearer" and credential else None


def make_secret() -> str:
    """256 random bits, shown once."""
    return KEY_START + secrets.token_urlsafe(32)


def key_digest(key: str) -> bytes:
    return digest_of(key.encode())


def new_id(kind: str) -> str:
    """kind: `key`, `tok` or `sub`."""
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
    """A key, and the row that stores it without its secret."""
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


def narrow_token(
    principal: Principal,
    now: datetime,
    *,
    lifetime: timedelta,
    name: str = "",
    roles: tuple[Role, ...] | None = None,
    read_only: bool = False,
    scopes: tuple[ScopeName, ...] | None = None,
    groups: tuple[str, ...] | None = None,
    limits: Filter | None = None,
) -> tuple[str, NewKey]:
    """A token with at most the principal's rights, and the row that stores it.

    None keeps the principal's own. limits: a filter on all searches with the token, which makes it
    read-only. Raises a 422 `Problem` that names the field that would widen the rights.
    """
    token, key_id = make_secret(), new_id("tok")
    is_read_only = read_only or limits is not None
    for field, requested, held in (
        ("scopes", scopes, principal.scopes),
        ("groups", groups, principal.groups),
    ):
        if wider := set(requested or ()) - set(held):
            names = ", ".join(sorted(wider))
            raise problems.invalid_field(field, f"can only narrow; {names} is not yours")
    ends_at = now + lifetime
    return token, NewKey(
        key_id=key_id,
        digest=key_digest(token),
        subject=principal.subject,
        groups=principal.claims.groups if principal.claims else (),
        roles=_narrow_roles(principal, roles, is_read_only=is_read_only),
        expires_at=min(ends_at, principal.expires_at or ends_at),
        name=name,
        scopes=_in_order(scopes or principal.scopes),
        is_token=True,
        made_with=principal.key_id,
        groups_only=groups,
        filter=principal.filter if limits is None else limits.narrowed(principal.filter),
        issuer_key=principal.issuer_key,
        agents=(key_id, *principal.agents)[:AGENTS_MAX],
    )


def issue_job_token(principal: Principal, now: datetime) -> NewKey:
    """A token that nobody holds, for a job that may outlive the web token that queued it."""
    _, token = narrow_token(principal, now, lifetime=_JOB_TOKEN_LIFETIME)
    expires_at = now + _JOB_TOKEN_LIFETIME
    agents = principal.agents  # the job is no agent
    return replace(token, expires_at=expires_at, issuer_key=None, is_for_job=True, agents=agents)


def _narrow_roles(
    principal: Principal, roles: tuple[Role, ...] | None, *, is_read_only: bool
) -> tuple[str, ...]:
    requested = ("reader",) if is_read_only and roles is None else roles
    if requested is None:
        return principal.roles
    if is_read_only and requested != ("reader",):
        raise problems.invalid_field(
            "roles", "must be reader where there is a filter, or read_only"
        )
    for role in requested:
        if SUFFICIENT[role].isdisjoint(principal.roles):
            raise problems.invalid_field("roles", f"can only narrow; {role} is not yours")
    return requested


def _in_order(scopes: tuple[ScopeName, ...]) -> tuple[ScopeName, ...]:
    return tuple(name for name in SCOPE_NAMES if name in scopes)
