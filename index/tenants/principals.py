"""Principals: the holders of keys, tokens and other issuers' web tokens, and their rights."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from index.model.provenance import Quarantine
from index.model.query import FILTER, Filter
from index.model.scope import PUBLIC, SCOPE_NAMES, ScopeName
from index.postgres.database import Database
from index.postgres.session import Row
from index.tenants.tenant_store import TenantRevisions

NO_FILTER = Filter()

CountedOpenings: TypeAlias = Literal["nothing", "feedback", "all"]


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of another issuer's web token about its bearer.

    issuer_key: thumbprint of the issuer's key that verified it.
    is_mcp_only: whether its audience is `/mcp`, and not the whole service.
    has_mcp_scopes: whether it has the OAuth scopes that `/mcp` needs.
    agents: the actors of its claim `act`, the current one first.
    """

    tenant: str
    subject: str
    groups: tuple[str, ...]
    roles: tuple[str, ...]
    expires_at: datetime
    issuer_key: str
    is_mcp_only: bool = False
    has_mcp_scopes: bool = True
    agents: tuple[str, ...] = ()


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
    agents: who acts for the subject with it, the nearest first: tokens, then actors of a web token;
            none if it is the subject's own.
    max_staleness_ms: the most that an admin lets callers of the tenant choose; None: no limit.
    records_questions: whether an admin of the tenant has its questions recorded.
    counted_openings: which openings of documents count for their popularity in the tenant.
    receives_public: whether the tenant and the deployment admit other tenants' public documents.
    shares_answers: whether callers of the tenant who see the same share cached answers.
    quarantine: what of agents' writing the tenant holds; None for nothing.
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
    agents: tuple[str, ...] = ()
    quarantine: Quarantine | None = None


class PrincipalStore:
    """shares_public: whether the deployment lets tenants receive public documents."""

    def __init__(self, database: Database, *, shares_public: bool = False) -> None:
        self._database = database
        self._shares_public = shares_public

    async def touch(self, used_at_by_digest: Mapping[bytes, datetime]) -> None:
        """Record when each digest was last used; unknown digests are ignored."""
        await self._database.rows(
            "principals.record_use", list(used_at_by_digest), list(used_at_by_digest.values())
        )

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
            agents=claims.agents,
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
        filter=NO_FILTER if document_filter is None else FILTER.validate_python(document_filter),
        is_token=row["is_token"],
        issuer_key=row["issuer_key"],
        agents=tuple(row["agents"]),
        receives_public=receives_public,
        **_tenant_settings(row),
    )


def _tenant_settings(row: Row) -> dict[str, Any]:
    names = ("max_staleness_ms", "records_questions", "counted_openings", "shares_answers")
    held = row["quarantine"]
    quarantine = held and Quarantine(held["of"], tuple(held["readers"]))
    return {"quarantine": quarantine, **{name: row[name] for name in names}}


def _revisions(row: Row, tenant: str) -> dict[str, TenantRevisions]:
    """The access revision of the public partition is left out, as nothing depends on it."""
    counters = (row["revision"], row["access_revision"], row["audience_revision"])
    return {
        tenant: TenantRevisions(row["history"], *counters),
        PUBLIC: TenantRevisions(row["history"], row["public_revision"], 0),
    }
