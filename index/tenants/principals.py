"""Principals: who holds a key, a token or another issuer's web token, and what it lets them do."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime

from pydantic import TypeAdapter

from index.audit import audit_log
from index.model.query import Filter
from index.model.scope import PUBLIC, SCOPE_NAMES, ScopeName
from index.postgres.database import Database, Row

NO_FILTER = Filter()
_FILTER = TypeAdapter(Filter)


@dataclass(frozen=True, slots=True)
class Claims:
    """What another issuer's web token says of whoever brings it.

    issuer_key: thumbprint of the issuer's key that verified it.
    """

    tenant: str
    subject: str
    groups: tuple[str, ...]
    roles: tuple[str, ...]
    expires_at: datetime
    issuer_key: str


@dataclass(frozen=True, slots=True)
class Principal:
    """Who came, in which groups, as of which access revision of the tenant.

    history: of the database, which the access revision is of.
    digest: of what came.
    key_id: of the key or token; None for a web token, whose `claims` are then there.
    expires_at: the earliest of the key or token and all that it was made with.
    issuer_key: thumbprint of the key that verified the web token at the start of the chain; None if
                a key of ours is there.
    scopes, filter: what its requests may name, and what documents must be, for it to see them.
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


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key or token; what a token is made with, which gives it its groups, must still work.

    issuer_key: as a `Principal` has it.
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


class PrincipalStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, tenant: str, key: NewKey) -> bool:
        """False if there is no such tenant, or what a token is made with works no more."""
        async with self._database.transaction() as session:
            groups, groups_only = key.groups, key.groups_only
            lineage: list[str] = []
            if key.made_with is not None:
                parent = await session.row("principals.parent", tenant, key.made_with)
                if parent is None:
                    return False
                lineage = [*parent["lineage"], key.made_with]
                if len(await session.rows("principals.lock", tenant, lineage)) < len(lineage):
                    return False
                groups = parent["groups"]
                groups_only = parent["groups_only"] if groups_only is None else groups_only
            made = await session.row(
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
            if made is not None:
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
            return made is not None

    async def page(self, tenant: str, *, after: str, limit: int) -> list[ShownKey]:
        """Keys in the order of their identifiers, revoked ones too; no tokens."""
        rows = await self._database.rows("principals.page", tenant, after, limit)
        return [_shown(row) for row in rows]

    async def rotate(
        self, tenant: str | None, key_id: str, new_id: str, digest: bytes, until: datetime
    ) -> bool:
        """Put a new key in the place of one, which works until then; False if none works."""
        async with self._database.transaction() as session:
            row = await session.row("principals.rotate", tenant, key_id, new_id, digest, until)
            if row is not None:
                await audit_log.append(
                    session, row["tenant"], "key.rotate", key_id, new=new_id, until=until
                )
            return row is not None

    async def revoke(self, tenant: str | None, key_id: str) -> bool:
        """With all tokens made with it. False if no such key is live; any tenant's if None."""
        async with self._database.transaction() as session:
            row = await session.row("principals.lock_live", tenant, key_id)
            if row is not None:
                await session.rows("principals.revoke", row["tenant"], key_id)
                await audit_log.append(session, row["tenant"], "key.revoke", key_id)
            return row is not None

    async def revoke_token(self, principal: Principal, token_id: str) -> bool:
        """One of its subject; for a token, itself or one made with it. False if there is none."""
        async with self._database.transaction() as session:
            row = await session.row(
                "principals.lock_token",
                principal.tenant,
                token_id,
                principal.subject,
                principal.key_id if principal.is_token else None,
            )
            if row is not None:
                await session.rows("principals.revoke", principal.tenant, token_id)
                await audit_log.append(session, principal.tenant, "token.revoke", token_id)
            return row is not None

    async def touch(self, used: Mapping[bytes, datetime]) -> None:
        """Remember when each digest was last used; those of nobody's key are left alone."""
        await self._database.rows("principals.touch", list(used), list(used.values()))

    async def forget_tokens(self, before: datetime) -> None:
        """Drop the tokens that have not worked since then."""
        await self._database.rows("principals.forget_tokens", before)

    async def holder_at(self, digest: bytes) -> tuple[Principal, dict[str, int]] | None:
        """Whoever holds the live key or token with this SHA-256, expired or not.

        A token is live only while all that it was made with is.

        With the revisions of its tenant and of what is public at that instant.
        """
        row = await self._database.row("principals.holder", digest)
        return None if row is None else (_principal(row), _revisions(row, row["tenant"]))

    async def holder_now(self, tenant: str, key_id: str) -> Principal | None:
        """Whoever holds the live key or token of this identifier, expired or not."""
        row = await self._database.row("principals.holder_now", tenant, key_id)
        return None if row is None else _principal(row)

    async def of_subject(
        self, tenant: str, subject: str, *, limit: int
    ) -> list[tuple[Principal, str]]:
        """The subject's keys and tokens that work, each with its name, the newest first."""
        rows = await self._database.rows("principals.of_subject", tenant, subject, limit)
        return [(_principal(row), row["name"]) for row in rows]

    async def groups(self, tenant: str, subject: str) -> tuple[str, ...]:
        """Those that the subject is a member of."""
        rows = await self._database.rows("principals.groups", tenant, subject)
        return tuple(row["group_id"] for row in rows)

    async def bearer_at(
        self, digest: bytes, claims: Claims
    ) -> tuple[Principal, dict[str, int]] | None:
        """Whoever the claims are of, with its memberships; None if there is no such tenant."""
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
        )
        return principal, _revisions(row, claims.tenant)


def _principal(row: Row) -> Principal:
    limits = row["filter"]
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
        filter=NO_FILTER if limits is None else _FILTER.validate_python(limits),
        is_token=row["is_token"],
        issuer_key=row["issuer_key"],
    )


def _revisions(row: Row, tenant: str) -> dict[str, int]:
    return {tenant: row["revision"], PUBLIC: row["public_revision"]}


def _shown(row: Row) -> ShownKey:
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
