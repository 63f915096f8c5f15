"""Tenants, keys, groups and the counters that tell caches what still holds."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from index.database import Database, Row
from index.scope import PUBLIC


@dataclass(frozen=True, slots=True)
class Revisions:
    """A tenant's counters: of its documents, and of its keys and groups."""

    revision: int
    access_revision: int


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """Who holds a key, in which groups, as of which access revision of the tenant."""

    digest: bytes
    key_id: str
    tenant: str
    subject: str
    groups: tuple[str, ...]
    roles: tuple[str, ...]
    expires_at: datetime | None
    access_revision: int


@dataclass(frozen=True, slots=True)
class NewKey:
    key_id: str
    digest: bytes
    subject: str
    groups: tuple[str, ...]
    roles: tuple[str, ...]
    expires_at: datetime | None


class Tenants:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, tenant: str, name: str) -> bool:
        """False if the tenant exists already."""
        return await self._database.row("tenants.create", tenant, name) is not None

    async def exists(self, tenant: str) -> bool:
        return await self._database.row("tenants.exists", tenant) is not None

    async def revisions(self, tenants: Collection[str]) -> dict[str, Revisions]:
        """The counters of those that exist, from one snapshot; one call at a time."""
        rows = await self._database.standing_rows("tenants.revisions", list(tenants))
        return {row["tenant"]: Revisions(row["revision"], row["access_revision"]) for row in rows}

    async def languages(self) -> list[str]:
        """All that any tenant has documents in."""
        rows = await self._database.rows("tenants.all_languages")
        return [row["language"] for row in rows]

    async def all_revisions(self) -> dict[str, int]:
        rows = await self._database.rows("tenants.all_revisions")
        return {row["tenant"]: row["revision"] for row in rows}

    async def create_key(self, tenant: str, key: NewKey) -> bool:
        """False if there is no such tenant."""
        row = await self._database.row(
            "tenants.create_key",
            tenant,
            key.key_id,
            key.digest,
            key.subject,
            list(key.groups),
            list(key.roles),
            key.expires_at,
        )
        return row is not None

    async def revoke_key(self, tenant: str | None, key_id: str) -> bool:
        """False if there is no such live key; any tenant's if `tenant` is None."""
        return await self._database.row("tenants.revoke_key", tenant, key_id) is not None

    async def key_holder(self, digest: bytes) -> KeyHolder | None:
        """Whoever holds the live key with this SHA-256, expired or not."""
        found = await self.key_holder_at(digest)
        return None if found is None else found[0]

    async def key_holder_at(self, digest: bytes) -> tuple[KeyHolder, dict[str, int]] | None:
        """The same, with the revisions of its tenant and of what is public at that instant."""
        row = await self._database.row("tenants.key_holder", digest)
        if row is None:
            return None
        holder = _holder(row)
        return holder, {holder.tenant: row["revision"], PUBLIC: row["public_revision"]}

    async def holder_now(self, tenant: str, key_id: str) -> KeyHolder | None:
        """Whoever holds the live key of this identifier, expired or not."""
        row = await self._database.row("tenants.holder_now", tenant, key_id)
        return None if row is None else _holder(row)

    async def add_member(self, tenant: str, group_id: str, subject: str) -> None:
        async with self._database.transaction() as session:
            await session.rows("tenants.create_group", tenant, group_id)
            await session.rows("tenants.add_member", tenant, group_id, subject)

    async def remove_member(self, tenant: str, group_id: str, subject: str) -> None:
        await self._database.rows("tenants.remove_member", tenant, group_id, subject)


def _holder(row: Row) -> KeyHolder:
    return KeyHolder(
        digest=row["digest"],
        key_id=row["key_id"],
        tenant=row["tenant"],
        subject=row["subject"],
        groups=tuple(row["groups"]),
        roles=tuple(row["roles"]),
        expires_at=row["expires_at"],
        access_revision=row["access_revision"],
    )
