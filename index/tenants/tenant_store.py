"""Tenants, groups and the counters that tell caches what still holds."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from index.audit import audit_log
from index.errors import GroupHeld
from index.postgres.database import Database, Row

_HOLDERS_MAX = 20  # keys that are told by name


@dataclass(frozen=True, slots=True)
class TenantRevisions:
    """A tenant's counters: of its documents, and of its keys and groups.

    history: of the database; counters of two histories can't be compared.
    """

    history: str
    revision: int
    access_revision: int

    def is_before(self, earlier: "TenantRevisions") -> bool:
        """Whether the database has gone back since `earlier`, and calls its history the same."""
        return self.history == earlier.history and (
            self.revision < earlier.revision or self.access_revision < earlier.access_revision
        )


class TenantStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, tenant: str, name: str) -> bool:
        """False if the tenant exists already."""
        async with self._database.transaction() as session:
            made = await session.row("tenants.create", tenant, name)
            if made is not None:
                await audit_log.append(session, tenant, "tenant.create", tenant)
            return made is not None

    async def exists(self, tenant: str) -> bool:
        return await self._database.row("tenants.exists", tenant) is not None

    async def revisions(self, tenants: Collection[str]) -> dict[str, TenantRevisions]:
        """The counters of those that exist, from one snapshot; one call at a time."""
        rows = await self._database.dedicated_rows("tenants.revisions", list(tenants))
        if rows and rows[0]["history"] != self._database.history:
            await self._database.begin_history(rows[0]["history"])
        return _revisions(rows)

    async def revisions_aside(self, tenants: Collection[str]) -> dict[str, TenantRevisions]:
        """As `revisions`, but many at a time, each on a connection of its own."""
        return _revisions(await self._database.rows("tenants.revisions", list(tenants)))

    async def begin_history(self, *, instead_of: str | None = None) -> None:
        """Give the database's history another name, drawn at random.

        instead_of: its name by now, or else nothing is done: of many that ask, one draws.
        """
        await self._database.rows("history.draw", instead_of)

    async def languages(self) -> list[str]:
        """All that any tenant has documents in."""
        rows = await self._database.rows("tenants.all_languages")
        return [row["language"] for row in rows]

    async def all_revisions(self) -> tuple[str, dict[str, int]]:
        """The history, and the revision of each tenant and of what is public."""
        rows = await self._database.rows("tenants.all_revisions")
        return rows[0]["history"], {row["tenant"]: row["revision"] for row in rows}

    async def put_group(self, tenant: str, group_id: str, members: Collection[str]) -> None:
        """The group with at least these members."""
        async with self._database.transaction() as session:
            await session.rows("tenants.create_group", tenant, group_id)
            for subject in members:
                if await session.rows("tenants.add_member", tenant, group_id, subject):
                    await audit_log.append(session, tenant, "member.add", group_id, member=subject)

    async def add_member(self, tenant: str, group_id: str, subject: str) -> None:
        await self.put_group(tenant, group_id, [subject])

    async def remove_member(self, tenant: str, group_id: str, subject: str) -> None:
        """Raises `GroupHeld`, and removes nothing, if the subject would keep the group by a key."""
        async with self._database.transaction() as session:
            arguments = (tenant, subject, group_id, _HOLDERS_MAX)
            if holders := await session.rows("principals.holders_of_group", *arguments):
                raise GroupHeld(group_id, subject, [row["key_id"] for row in holders])
            if await session.rows("tenants.remove_member", tenant, group_id, subject):
                await audit_log.append(session, tenant, "member.remove", group_id, member=subject)


def _revisions(rows: Sequence[Row]) -> dict[str, TenantRevisions]:
    return {
        row["tenant"]: TenantRevisions(row["history"], row["revision"], row["access_revision"])
        for row in rows
    }
