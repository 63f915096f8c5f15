"""Groups as an identity provider provisions them: their names, and the users in them.

Members that are no provisioned users, such as agents that an admin has added, stay as they are
while their group exists.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from gateway.extensions.scim.errors import ProvisioningRefused
from gateway.extensions.scim.examined_rows import EXAMINED_MAX, examine_rows, too_many_examined
from index.audit import audit_log
from index.postgres.database import Database
from index.postgres.session import Row, Session, UniqueViolation

MEMBERS_MAX = 10_000  # users of one group; a starting value
_PAGE = "provisioning.provisioned_groups_page"


@dataclass(frozen=True, slots=True)
class GroupName:
    """group_id: what readers of documents name. external_id: of the identity provider."""

    group_id: str
    display_name: str
    external_id: str | None


@dataclass(frozen=True, slots=True)
class GroupUser:
    user_id: str
    user_name: str


@dataclass(frozen=True, slots=True)
class ProvisionedGroup:
    """users: empty if they were not asked for."""

    scim_id: str
    name: GroupName
    created_at: datetime
    users: Sequence[GroupUser] = ()


@dataclass(frozen=True, slots=True)
class GroupMatch:
    """Which groups to list; None matches any.

    display_name: without regard to case. member: a user, by identifier. is_met: a further
    condition, of which PostgreSQL knows nothing; reads_users: whether it depends on the users.
    """

    scim_id: str | None = None
    display_name: str | None = None
    external_id: str | None = None
    member: str | None = None
    is_met: Callable[[ProvisionedGroup], bool] | None = None
    reads_users: bool = False


@dataclass(frozen=True, slots=True)
class GroupChange:
    """The group after a change. replaced: whether all users but the added ones leave.

    added, removed: users, by identifier; no user is in both.
    """

    name: GroupName
    replaced: bool = False
    added: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()


class GroupProvisioning:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, tenant: str, change: GroupChange) -> str:
        """The identifier of the new group. Raises `ProvisioningRefused`, as `update` does."""
        name = change.name
        async with self._database.transaction() as session:
            scim_id: str | None = await session.value(
                "provisioning.create_group",
                tenant,
                name.group_id,
                name.display_name,
                name.external_id,
            )
            if scim_id is None:
                raise _taken()
            added, _ = await _apply_members(session, tenant, change, ())
            await session.rows("provisioning.raise_access_revision", tenant)
            await audit_log.append(session, tenant, "group.create", name.group_id)
            await _log_members(session, tenant, "member.add", name.group_id, added)
            return scim_id

    async def get(
        self, tenant: str, scim_id: str, *, with_users: bool = True
    ) -> ProvisionedGroup | None:
        match = GroupMatch(scim_id=scim_id)
        _, groups = await self.page(tenant, match, start=0, limit=1, with_users=with_users)
        return groups[0] if groups else None

    async def page(
        self, tenant: str, match: GroupMatch, *, start: int, limit: int, with_users: bool
    ) -> tuple[int, list[ProvisionedGroup]]:
        """The number of matching groups, and those from `start` on.

        A page with users ends before it would have more than `MEMBERS_MAX`, but has one group.
        Raises `ProvisioningRefused` if too many have to be examined one by one.
        """
        arguments = (tenant, match.scim_id, match.display_name, match.external_id, match.member)
        async with self._database.snapshot() as session:
            rows: Sequence[Row]
            if match.is_met is None:
                total = await session.value("provisioning.count_groups", *arguments)
                rows = await session.rows(_PAGE, *arguments, start, limit)
            else:
                examined = await _rows_met(session, match, match.is_met, arguments)
                total, rows = len(examined), examined[start : start + limit]
            groups: dict[str, ProvisionedGroup] = {}
            users_left = MEMBERS_MAX
            for row in rows:
                users_left -= row["members"] if with_users else 0
                if users_left < 0 and groups:
                    break
                groups[row["group_id"]] = _group(row)
            users = await _users_of(session, tenant, list(groups) if with_users else ())
        return total, [replace(group, users=users[name]) for name, group in groups.items()]

    async def update(
        self,
        tenant: str,
        scim_id: str,
        change: Callable[[GroupName, Sequence[GroupUser]], GroupChange],
    ) -> bool:
        """Change the group, with its users, as `change` says; False if there is no such group.

        Raises `ProvisioningRefused` if another group has the name, an added user does not exist, or
        the group would have too many users. A group that gets another name keeps its users, but no
        key keeps the old name. The change has arrived everywhere when this returns.
        """
        async with self._database.transaction() as session:
            session.raised.add(tenant)  # another call may just have made the same change
            row = await session.row("provisioning.lock_group", tenant, scim_id)
            if row is None:
                return False
            before = _name(row)
            members = await session.rows(
                "provisioning.provisioned_members", tenant, before.group_id
            )
            after = change(before, [_user(member) for member in members])
            if after.name != before:
                await _rename(session, tenant, scim_id, before, after.name)
            subjects = [member["subject"] for member in members]
            added, removed = await _apply_members(session, tenant, after, subjects)
            if after.name == before and not added and not removed:
                return True
            await session.rows("provisioning.raise_access_revision", tenant)
            group_id = after.name.group_id
            if after.name != before:
                was = before.group_id
                await audit_log.append(session, tenant, "group.update", group_id, was=was)
            await _log_members(session, tenant, "member.add", group_id, added)
            await _log_members(session, tenant, "member.remove", group_id, removed)
            return True

    async def delete(self, tenant: str, scim_id: str) -> bool:
        """Delete the group with all its members; keys that name it lose it.

        False if there is no such group.
        """
        async with self._database.transaction() as session:
            session.raised.add(tenant)
            row = await session.row("provisioning.lock_group", tenant, scim_id)
            if row is None:
                return False
            await _strip_keys(session, tenant, row["group_id"], None)
            await session.rows("provisioning.delete_group", tenant, scim_id)
            await session.rows("provisioning.raise_access_revision", tenant)
            await audit_log.append(session, tenant, "group.delete", row["group_id"])
            return True


async def _rows_met(
    session: Session,
    match: GroupMatch,
    is_met: Callable[[ProvisionedGroup], bool],
    arguments: Sequence[Any],
) -> list[Row]:
    """The rows of groups that meet the condition; the tenant is the first of the arguments."""
    met: list[Row] = []
    users_left = EXAMINED_MAX
    async for rows in examine_rows(session, _PAGE, *arguments):
        users_left -= sum(row["members"] for row in rows) if match.reads_users else 0
        if users_left < 0:
            raise too_many_examined()
        names = [row["group_id"] for row in rows] if match.reads_users else ()
        users = await _users_of(session, arguments[0], names)
        met += (row for row in rows if is_met(replace(_group(row), users=users[row["group_id"]])))
    return met


async def _users_of(
    session: Session, tenant: str, group_ids: Collection[str]
) -> Mapping[str, list[GroupUser]]:
    users: defaultdict[str, list[GroupUser]] = defaultdict(list)
    if group_ids:
        for row in await session.rows("provisioning.members_of", tenant, group_ids):
            users[row["group_id"]].append(_user(row))
    return users


async def _rename(
    session: Session, tenant: str, scim_id: str, before: GroupName, after: GroupName
) -> None:
    if after.group_id != before.group_id:
        await _strip_keys(session, tenant, before.group_id, None)
    values = (after.group_id, after.display_name, after.external_id)
    try:
        updated = await session.rows("provisioning.update_group", tenant, scim_id, *values)
    except UniqueViolation:
        updated = ()
    if not updated:
        raise _taken()


async def _apply_members(
    session: Session, tenant: str, change: GroupChange, subjects_before: Collection[str]
) -> tuple[list[str], list[str]]:
    """The subjects that were added to the group, and those that were removed.

    subjects_before: of the users among its members.
    """
    group_id = change.name.group_id
    users = await session.rows(
        "provisioning.subjects_of", tenant, list(change.added | change.removed)
    )
    subjects = {row["user_id"]: row["subject"] for row in users}
    if unknown := change.added - set(subjects):
        raise ProvisioningRefused("invalidValue", f"There is no user {min(unknown)}.")
    members = set(subjects_before)
    added = {subjects[user_id] for user_id in change.added}
    removed = {subjects[user_id] for user_id in change.removed if user_id in subjects}
    if change.replaced:
        removed |= members - added
    if len((members | added) - removed) > MEMBERS_MAX:
        detail = f"A group may have at most {MEMBERS_MAX:,} users. Nothing was changed."
        raise ProvisioningRefused("tooMany", detail)
    if removed:
        await _strip_keys(session, tenant, group_id, removed)
        await session.rows("provisioning.remove_members", tenant, group_id, sorted(removed))
    if added - members:
        await session.rows("provisioning.add_members", tenant, group_id, sorted(added - members))
    return sorted(added - members), sorted(removed & members)


async def _strip_keys(
    session: Session, tenant: str, group_id: str, subjects: Collection[str] | None
) -> None:
    """Take the group from keys and tokens that name it: of these subjects, or of all.

    They are locked first, so that the second statement sees each token made with them.
    """
    arguments = (tenant, group_id, None if subjects is None else sorted(subjects))
    if await session.rows("provisioning.lock_keys_of_group", *arguments):
        await session.rows("provisioning.strip_group", *arguments)


async def _log_members(
    session: Session, tenant: str, action: str, group_id: str, subjects: Sequence[str]
) -> None:
    for part in audit_log.parts(subjects):
        await audit_log.append(session, tenant, action, group_id, members=list(part))


def _group(row: Row) -> ProvisionedGroup:
    return ProvisionedGroup(row["scim_id"], _name(row), row["created_at"])


def _name(row: Row) -> GroupName:
    return GroupName(row["group_id"], row["display_name"], row["external_id"])


def _user(row: Row) -> GroupUser:
    return GroupUser(row["user_id"], row["user_name"])


def _taken() -> ProvisioningRefused:
    return ProvisioningRefused("uniqueness", "Another group has this name.")
