"""Keys and the tokens that are made with them: made, listed, rotated and revoked."""

from dataclasses import asdict, dataclass
from datetime import datetime

from index.audit import audit_log
from index.errors import SubjectSuspended, TokensFull
from index.model.query import Filter
from index.model.scope import SCOPE_NAMES, Maker, ScopeName
from index.postgres.database import Database
from index.postgres.session import Row, Session

# Starting values, not measured: a thousand tasks at a time, each with a token of its own.
TOKENS_MAX = 1_000  # of a subject
ANCESTORS_MAX = 8  # of a token: each request reads them all


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key or token to create.

    made_with: the key or token that a token is made with; it must be live, and gives its groups.
    is_for_job: nobody holds the token; it does not count towards the limit of tokens.
    issuer_key, agents: as in `Principal`.
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
    is_for_job: bool = False
    agents: tuple[str, ...] = ()


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


class KeyStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, tenant: str, key: NewKey) -> bool:
        """False if there is no such tenant, or the token's parent is no longer live.

        Raises `SubjectSuspended`, and `TokensFull` if the subject has `TOKENS_MAX` tokens or the
        new one would have more than `ANCESTORS_MAX` ancestors.
        """
        async with self._database.transaction() as session:
            if await session.row("principals.is_suspended", tenant, key.subject) is not None:
                raise SubjectSuspended(key.subject)
            if key.is_token and not key.is_for_job:
                await _require_room(session, tenant, key.subject)
            groups, groups_only = key.groups, key.groups_only
            lineage: list[str] = []
            if key.made_with is not None:
                parent = await session.row("principals.parent", tenant, key.made_with)
                if parent is None:
                    return False
                lineage = [*parent["ancestor_key_ids"], key.made_with]
                if len(lineage) > ANCESTORS_MAX:
                    raise TokensFull(
                        f"A token has at most {ANCESTORS_MAX} ancestors. Make it with the key, or "
                        "with an earlier token of the chain."
                    )
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
                key.is_for_job,
                list(key.agents),
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

    async def tokens_page(self, maker: Maker, *, after: str, limit: int) -> list[ShownToken]:
        """The maker's tokens that work, by id; a token is among its own."""
        arguments = (maker.tenant, after, limit, maker.subject, maker.token_id)
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

    async def revoke_token(self, maker: Maker, token_id: str) -> bool:
        """Revoke a token of the maker; False if there is none. A token is among its own."""
        async with self._database.transaction() as session:
            owner = await _lock_live(
                session,
                "principals.lock_token",
                maker.tenant,
                token_id,
                maker.subject,
                maker.token_id,
            )
            if owner is not None:
                await session.rows("principals.revoke", owner, token_id)
                await audit_log.append(session, owner, "token.revoke", token_id)
            return owner is not None

    async def forget_tokens(self, before: datetime) -> None:
        """Delete the tokens that stopped working before then."""
        await self._database.rows("principals.delete_ended_tokens", before)


async def _require_room(session: Session, tenant: str, subject: str) -> None:
    """Raises `TokensFull` if the subject has as many tokens as allowed."""
    await session.rows("principals.lock_tokens", tenant, subject)
    if await session.value("principals.count_tokens", tenant, subject) >= TOKENS_MAX:
        raise TokensFull(
            f"{subject} has {TOKENS_MAX:,} tokens that work. Revoke some, use one for several "
            "tasks, or make them with a shorter life."
        )


async def _lock_live(session: Session, name: str, *arguments: str | None) -> str | None:
    """Lock a key or token until the session ends; its tenant, or None if it is not live.

    The writer that has ended it may not have announced the end yet. A caller who learns here that
    it is not live must find it so in every gateway, so the end is announced again.
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
