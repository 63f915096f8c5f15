"""Tenants, groups, and the revisions by which caches detect changes."""

from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog

from index.audit import audit_log
from index.errors import DatabaseUnavailable, GroupHeld, TenantMissing
from index.postgres.database import Database
from index.postgres.session import Row

log = structlog.get_logger()

_HOLDERS_MAX = 20  # keys named in an error
_LATEST_MAX = 10_000  # tenants; about 3 MB


@dataclass(frozen=True, slots=True)
class TenantRevisions:
    """A tenant's counters: of its documents, of its keys and groups, and of its audiences.

    history: of the database; counters of two histories can't be compared.
    """

    history: str
    revision: int
    access_revision: int
    audience_revision: int = 0

    def is_before(self, earlier: "TenantRevisions") -> bool:
        """Whether the database went back since `earlier` within the same history."""
        return self.history == earlier.history and (
            self.revision < earlier.revision
            or self.access_revision < earlier.access_revision
            or self.audience_revision < earlier.audience_revision
        )


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """members: their number."""

    group: str
    members: int


@dataclass(frozen=True, slots=True)
class Member:
    subject: str
    added_at: datetime


class TenantStore:
    """on_went_back: called when counters show that the database has lost changes. None: they are
    not compared, as those of a standby, which may be behind.
    """

    def __init__(self, database: Database, on_went_back: Callable[[], None] | None = None) -> None:
        self._database = database
        self._on_went_back = on_went_back
        self._latest: OrderedDict[str, TenantRevisions] = OrderedDict()

    async def create(self, tenant: str, name: str) -> bool:
        """Create the tenant; False if it already exists."""
        async with self._database.transaction() as session:
            row = await session.row("tenants.create", tenant, name)
            if row is not None:
                await audit_log.append(session, tenant, "tenant.create", tenant)
            return row is not None

    async def invalidate(self, tenant: str) -> int | None:
        """End all cached answers of the tenant and all its shards, in every process.

        Returns the new revision, or None if there is no such tenant.
        """
        async with self._database.transaction() as session:
            revision: int | None = await session.value("tenants.skip_revision", tenant)
            if revision is not None:
                await audit_log.append(session, tenant, "cache.clear", tenant)
            return revision

    async def invalidate_partition(self, partition: str) -> None:
        """As `invalidate`, also of the partition 'public', and without an entry in a log."""
        async with self._database.transaction() as session:
            await session.rows("partitions.skip_revision", partition)

    async def exists(self, tenant: str) -> bool:
        return await self._database.row("tenants.exists", tenant) is not None

    async def revisions(self, tenants: Collection[str]) -> dict[str, TenantRevisions]:
        """The counters of those that exist, from one snapshot; one call at a time.

        A counter that has decreased in the same history shows that the database has lost changes:
        the history gets a new name, and all counters are read again.
        """
        rows = await self._database.dedicated.rows("tenants.revisions", list(tenants))
        if rows and rows[0]["history"] != self._database.history:
            await self._database.begin_history(rows[0]["history"])
            await self._note_history()
        counters = _revisions(rows)
        if self._on_went_back is not None:
            for tenant, current in counters.items():
                latest = self._latest.get(tenant)
                if latest is not None and current != latest and current.is_before(latest):
                    self._on_went_back()
                    await self.end_history(current.history)
                    return await self.revisions(tenants)
            for tenant, current in counters.items():
                self._latest[tenant] = current
                self._latest.move_to_end(tenant)
            while len(self._latest) > _LATEST_MAX:
                self._latest.popitem(last=False)
        return counters

    async def held_revisions(self, tenants: Collection[str]) -> dict[str, dict[str, int]]:
        """By noted history, the last revision of each tenant that the database still holds of it.

        At most 100 histories: the current one, if nothing prevented noting it, and those before.
        """
        held: dict[str, dict[str, int]] = {}
        for row in await self._database.rows("history.noted", list(tenants)):
            held.setdefault(row["history"], {})[row["tenant"]] = row["revision"]
        return held

    async def _note_history(self) -> None:
        """Before anybody is given a revision of it; a database that is full still answers."""
        try:
            await self._database.rows("history.note")
        except DatabaseUnavailable as error:
            log.warning("history", state="not_noted", detail=str(error))

    async def revisions_aside(self, tenants: Collection[str]) -> dict[str, TenantRevisions]:
        """As `revisions`, but safe for concurrent calls, each on its own connection."""
        return _revisions(await self._database.rows("tenants.revisions", list(tenants)))

    async def end_history(self, history: str) -> None:
        """Give another name to a history in which the database has lost changes."""
        log.error(
            "history",
            state="went_back",
            history=history,
            detail="the database has lost committed changes: cached answers are invalid; "
            "after a restore run `nearhit restore` without a file",
        )
        await self.begin_history(instead_of=history)

    async def begin_history(self, *, instead_of: str | None = None) -> None:
        """Give the database's history a new random name.

        instead_of: only if this is the current name, so that one of several callers renames it.
        """
        await self._database.rows("history.draw", instead_of)

    async def languages(self) -> list[str]:
        """The languages of all tenants' documents."""
        rows = await self._database.rows("tenants.all_languages")
        return [row["language"] for row in rows]

    async def all_revisions(self) -> tuple[str, dict[str, int]]:
        """The history, and the revision of each tenant and of the public partition."""
        rows = await self._database.rows("tenants.all_revisions")
        return rows[0]["history"], {row["tenant"]: row["revision"] for row in rows}

    async def receives_public(self, tenant: str) -> bool:
        """Whether it asks for other tenants' public documents. Raises `TenantMissing`."""
        row = await self._database.row("tenants.receives_public", tenant)
        if row is None:
            raise TenantMissing(tenant)
        receives: bool = row["receives_public"]
        return receives

    async def put_group(self, tenant: str, group_id: str, members: Collection[str]) -> None:
        """Create the group if it is missing, and add these members."""
        async with self._database.transaction() as session:
            await session.rows("tenants.create_group", tenant, group_id)
            for subject in members:
                if await session.rows("tenants.add_member", tenant, group_id, subject):
                    await audit_log.append(session, tenant, "member.add", group_id, member=subject)

    async def add_member(self, tenant: str, group_id: str, subject: str) -> None:
        await self.put_group(tenant, group_id, [subject])

    async def remove_member(self, tenant: str, group_id: str, subject: str) -> None:
        """Raises `GroupHeld`, and removes nothing, if a key of the subject names the group."""
        async with self._database.transaction() as session:
            arguments = (tenant, subject, group_id, _HOLDERS_MAX)
            if holders := await session.rows("principals.holders_of_group", *arguments):
                raise GroupHeld(group_id, subject, [row["key_id"] for row in holders])
            if await session.rows("tenants.remove_member", tenant, group_id, subject):
                await audit_log.append(session, tenant, "member.remove", group_id, member=subject)

    async def groups_page(self, tenant: str, *, after: str, limit: int) -> list[GroupSummary]:
        """The groups that were given members, by name; not those that only keys name."""
        rows = await self._database.rows("tenants.groups_page", tenant, after, limit)
        return [GroupSummary(row["group_id"], row["members"]) for row in rows]

    async def members_page(
        self, tenant: str, group_id: str, *, after: str, limit: int
    ) -> list[Member]:
        rows = await self._database.rows("tenants.members_page", tenant, group_id, after, limit)
        return [Member(row["subject"], row["added_at"]) for row in rows]


def _revisions(rows: Sequence[Row]) -> dict[str, TenantRevisions]:
    counters = {}
    for row in rows:
        counters[row["tenant"]] = TenantRevisions(
            row["history"], row["revision"], row["access_revision"], row["audience_revision"]
        )
    return counters
