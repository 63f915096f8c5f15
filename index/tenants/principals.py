"""Principals: the holders of keys, tokens and other issuers' web tokens, and their rights."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter

from index.audit import audit_log
from index.errors import SubjectSuspended
from index.model.query import Filter
from index.model.scope import PUBLIC, SCOPE_NAMES, ScopeName
from index.popularity.popularity_store import CountedOpenings
from index.postgres.database import Database
from index.postgres.session import Row, Session
from index.tenants.tenant_store import TenantRevisions

NO_FILTER = Filter()
_FILTER = TypeAdapter(Filter)


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of another issuer's web token about its bearer.

    issuer_key: thumbprint of the issuer's key that verified it.
    is_mcp_only: whether its audience is `/mcp`, and not the whole service.
    has_mcp_scopes: whether it has the OAuth scopes that `/mcp` needs.
    """

    tenant: str
    subject: str
    groups: tuple[str, ...]
    roles: tuple[str, ...]
    expires_at: datetime
    issuer_key: str
    is_mcp_only: bool = False
    has_mcp_scopes: bool = True


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller with its groups, as of an access revision of the tenant.

    history: of the database, to which the access revision belongs.
    digest: of the credential.
    key_id: of the key or token; None for a web token, which has `claims`.
    expires_at: the earliest of the key or token and all that it was made with.
    issuer_key: thumbprint of the key that verified the web token at the start of the chain; None if
                the chain starts with a key of this service.
    scopes, filter: the scopes that its requests may name, and the documents that it may see.
    max_staleness_ms: the most that an admin lets callers of the tenant choose; None: no limit.
    records_questions: whether an admin of the tenant has its questions recorded.
    counted_openings: which openings of documents count for their popularity in the tenant.
    receives_public: whether the tenant and the deployment admit other tenants' public documents.
    shares_answers: whether callers of the tenant who see the same share cached answers.
    """

    digest: bytes
    key_id: str | None
    tenant: str
    subject: str
    groups: tuple[str, ...]
    roles: tuple[str, ...]
    expires_at: datetime | None
    history: str
    access_revision: int
    scopes: tuple[ScopeName, ...] = SCOPE_NAMES
    filter: Filter = NO_FILTER
    claims: Claims | None = None
    is_token: bool = False
    issuer_key: str | None = None
    max_staleness_ms: int | None = None
    records_questions: bool = False
    counted_openings: CountedOpenings = "nothing"
    receives_public: bool = False
    shares_answers: bool = True


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key or token to create.

    made_with: the key or token that a token is made with; it must be live, and gives its groups.
    issuer_key: as in `Principal`.
    """

    key_id: str
    digest: bytes
    subject: str
    groups: tuple[str, ...]
    roles: tuple[str, ...]
    expires_at: datetime | None
    name: str = ""
    scopes: tuple[ScopeName, ...] = SCOPE_NAMES
    is_token: bool = False
    made_with: str | None = None
    groups_only: tuple[str, ...] | None = None
    filter: Filter | None = None
    issuer_key: str | None = None


@dataclass(frozen=True, slots=True)
class ShownKey:
    """A key as an admin sees it."""

    key_id: str
    name: str
    subject: str
    groups: tuple[str, ...]
    roles: tuple[str, ...]
    scopes: tuple[ScopeName, ...]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class ShownToken:
    """A token that works, as an admin or its own subject sees it."""

    key_id: str
    name: str
    subject: str
    roles: tuple[str, ...]
    scopes: tuple[ScopeName, ...]
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    made_with: str | None


class PrincipalStore:
    """shares_public: whether the deployment lets tenants receive public documents."""

    def __init__(self, database: Database, *, shares_public: bool = False) -> None:
        self._database = database
        self._shares_public = shares_public

    async def create(self, tenant: str, key: NewKey) -> bool:
        """False if there is no such tenant, or the token's parent is no longer live.

        Raises `SubjectSuspended`.
        """
        async with self._database.transaction() as session:
            if await session.row("principals.is_suspended", tenant, key.subject) is not None:
                raise SubjectSuspended(key.subject)
            groups, groups_only = key.groups, key.groups_only
            lineage: list[str] = []
            if key.made_with is not None:
                parent = await session.row("principals.parent", tenant, key.made_with)
                if parent is None:
                    return False
                lineage = [*parent["ancestor_key_ids"], key.made_with]
                locked = await session.rows("principals.lock", tenant, lineage)
                if len(locked) < len(lineage):
                    return False
                groups = next(row["groups"] for row in locked if row["key_id"] == key.made_with)
                groups_only = parent["allowed_groups"] if groups_only is None else groups_only
            row = await session.row(
                "principals.create",
                tenant,
                key.key_id,
                key.digest,
                key.name,
                key.subject,
                list(groups),
                list(key.roles),
                list(key.scopes),
                key.expires_at,
                key.is_token,
                lineage,
                None if groups_only is None else list(groups_only),
                None if key.filter is None else asdict(key.filter),
                key.issuer_key,
            )
            if row is not None:
                await audit_log.append(
                    session,
                    tenant,
                    "token.create" if key.is_token else "key.create",
                    key.key_id,
                    subject=key.subject,
                    groups=list(groups),
                    roles=list(key.roles),
                    scopes=list(key.scopes),
                    expires_at=key.expires_at,
                    made_with=key.made_with,
                )
            return row is not None

    async def page(self, tenant: str, *, after: str, limit: int) -> list[ShownKey]:
        """Keys by id, revoked ones included; no tokens."""
        rows = await self._database.rows("principals.page", tenant, after, limit)
        return [_to_shown_key(row) for row in rows]

    async def tokens_page(
        self, tenant: str, subject: str | None, token_id: str | None, *, after: str, limit: int
    ) -> list[ShownToken]:
        """Tokens that work, by id. subject: None for all. token_id: it and those made with it."""
        arguments = (tenant, after, limit, subject, token_id)
        rows = await self._database.rows("principals.tokens_page", *arguments)
        return [
            ShownToken(
                key_id=row["key_id"],
                name=row["name"],
                subject=row["subject"],
                roles=tuple(row["roles"]),
                scopes=tuple(row["scopes"]),
                created_at=row["created_at"],
                expires_at=row["expires_at"],
                last_used_at=row["last_used_at"],
                made_with=row["made_with"],
            )
            for row in rows
        ]

    async def rotate(
        self, tenant: str | None, key_id: str, new_id: str, digest: bytes, until: datetime
    ) -> bool:
        """Replace a key by a new one; the old one works until `until`. False if it is not live."""
        async with self._database.transaction() as session:
            owner = await _lock_live(session, "principals.lock_key", tenant, key_id)
            if owner is None:
                return False
            arguments = (owner, key_id, new_id, digest, until)
            is_rotated = bool(await session.value("principals.rotate", *arguments))
            if is_rotated:
                await audit_log.append(
                    session, owner, "key.rotate", key_id, new=new_id, until=until
                )
            return is_rotated

    async def revoke(self, tenant: str | None, key_id: str) -> bool:
        """Revoke a key and all tokens made with it. False if it is not live.

        tenant: None for any tenant.
        """
        async with self._database.transaction() as session:
            owner = await _lock_live(session, "principals.lock_key", tenant, key_id)
            if owner is not None:
                await session.rows("principals.revoke", owner, key_id)
                await audit_log.append(session, owner, "key.revoke", key_id)
            return owner is not None

    async def revoke_token(self, principal: Principal, token_id: str) -> bool:
        """Revoke a token of the principal's subject; False if there is none.

        A token may revoke only itself and tokens made with it.
        """
        async with self._database.transaction() as session:
            owner = await _lock_live(
                session,
                "principals.lock_token",
                principal.tenant,
                token_id,
                principal.subject,
                principal.key_id if principal.is_token else None,
            )
            if owner is not None:
                await session.rows("principals.revoke", owner, token_id)
                await audit_log.append(session, owner, "token.revoke", token_id)
            return owner is not None

    async def touch(self, used_at_by_digest: Mapping[bytes, datetime]) -> None:
        """Record when each digest was last used; unknown digests are ignored."""
        await self._database.rows(
            "principals.record_use", list(used_at_by_digest), list(used_at_by_digest.values())
        )

    async def forget_tokens(self, before: datetime) -> None:
        """Delete the tokens that stopped working before then."""
        await self._database.rows("principals.delete_ended_tokens", before)

    async def holder_at(self, digest: bytes) -> tuple[Principal, dict[str, TenantRevisions]] | None:
        """The holder of the live key or token with this SHA-256, expired or not.

        A token is live only while everything that it was made with is live.
        Also returns the counters of its tenant and of the public partition at that instant.
        """
        row = await self._database.row("principals.holder", digest)
        return None if row is None else (self._principal(row), _revisions(row, row["tenant"]))

    async def holder_now(self, tenant: str, key_id: str) -> Principal | None:
        """The holder of the live key or token with this id, expired or not."""
        row = await self._database.row("principals.holder_now", tenant, key_id)
        return None if row is None else self._principal(row)

    async def holders_now(self, tenant: str, key_ids: Collection[str]) -> dict[str, Principal]:
        """By id, the holders of those keys and tokens that are live, expired or not."""
        rows = await self._database.rows("principals.holders_now", tenant, list(key_ids))
        return {row["key_id"]: self._principal(row) for row in rows}

    async def of_subject(
        self, tenant: str, subject: str, *, limit: int
    ) -> list[tuple[Principal, str]]:
        """The subject's working keys and tokens, each with its name, newest first."""
        rows = await self._database.rows("principals.of_subject", tenant, subject, limit)
        return [(self._principal(row), row["name"]) for row in rows]

    async def groups(self, tenant: str, subject: str) -> tuple[str, ...]:
        """The groups of which the subject is a member."""
        rows = await self._database.rows("principals.groups", tenant, subject)
        return tuple(row["group_id"] for row in rows)

    async def bearer_at(
        self, digest: bytes, claims: Claims
    ) -> tuple[Principal, dict[str, TenantRevisions]] | None:
        """The bearer of the claims, with its memberships; None if there is no such tenant."""
        row = await self._database.row(
            "principals.bearer", claims.tenant, claims.subject, list(claims.groups)
        )
        if row is None:
            return None
        principal = Principal(
            digest=digest,
            key_id=None,
            tenant=claims.tenant,
            subject=claims.subject,
            groups=tuple(row["groups"]),
            roles=claims.roles,
            expires_at=claims.expires_at,
            history=row["history"],
            access_revision=row["access_revision"],
            claims=claims,
            issuer_key=claims.issuer_key,
            receives_public=self._receives_public(row),
            **_tenant_settings(row),
        )
        return principal, _revisions(row, claims.tenant)

    def _principal(self, row: Row) -> Principal:
        return _to_principal(row, receives_public=self._receives_public(row))

    def _receives_public(self, row: Row) -> bool:
        return self._shares_public and bool(row["receives_public"])


def _to_principal(row: Row, *, receives_public: bool) -> Principal:
    document_filter = row["filter"]
    return Principal(
        digest=row["digest"],
        key_id=row["key_id"],
        tenant=row["tenant"],
        subject=row["subject"],
        groups=tuple(row["groups"]),
        roles=tuple(row["roles"]),
        expires_at=row["expires_at"],
        history=row["history"],
        access_revision=row["access_revision"],
        scopes=tuple(row["scopes"]),
        filter=NO_FILTER if document_filter is None else _FILTER.validate_python(document_filter),
        is_token=row["is_token"],
        issuer_key=row["issuer_key"],
        receives_public=receives_public,
        **_tenant_settings(row),
    )


def _tenant_settings(row: Row) -> dict[str, Any]:
    names = ("max_staleness_ms", "records_questions", "counted_openings", "shares_answers")
    return {name: row[name] for name in names}


def _revisions(row: Row, tenant: str) -> dict[str, TenantRevisions]:
    """The access revision of the public partition is left out, as nothing depends on it."""
    counters = (row["revision"], row["access_revision"], row["audience_revision"])
    return {
        tenant: TenantRevisions(row["history"], *counters),
        PUBLIC: TenantRevisions(row["history"], row["public_revision"], 0),
    }


async def _lock_live(session: Session, name: str, *arguments: str | None) -> str | None:
    """Lock a key or token until the session ends; its tenant, or None if it is not live.

    Whoever is told that it is not live relies on that everywhere, and the writer that has ended it
    may not have announced that yet. So it is announced again.
    """
    row = await session.row(name, *arguments)
    if row is None:
        return None
    tenant: str = row["tenant"]
    if not row["is_live"]:
        session.raised.add(tenant)
        return None
    return tenant


def _to_shown_key(row: Row) -> ShownKey:
    return ShownKey(
        key_id=row["key_id"],
        name=row["name"],
        subject=row["subject"],
        groups=tuple(row["groups"]),
        roles=tuple(row["roles"]),
        scopes=tuple(row["scopes"]),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        revoked_at=row["revoked_at"],
        last_used_at=row["last_used_at"],
    )
