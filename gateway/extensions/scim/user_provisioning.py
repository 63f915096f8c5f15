"""Users that an identity provider provisions, and what becomes of their subjects' credentials.

A subject is suspended while its user is inactive, once its user is deleted, and once its user has
another name. No key, token or web token of a suspended subject works.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from gateway.extensions.scim.errors import ProvisioningRefused
from gateway.extensions.scim.examined_rows import examine_rows
from index.audit import audit_log
from index.postgres.database import Database
from index.postgres.session import Row, Session, UniqueViolation

_NAMED_MAX = 100  # keys and groups that one row of the audit log names; it has their number


@dataclass(frozen=True, slots=True)
class UserEmail:
    value: str
    type: str | None = None
    is_primary: bool = False


@dataclass(frozen=True, slots=True)
class UserAttributes:
    """What an identity provider says about a user.

    subject: whom the user's credentials stand for.
    emails:  to look the user up by; they give no rights.
    """

    subject: str
    user_name: str
    external_id: str | None
    display_name: str | None
    is_active: bool
    emails: tuple[UserEmail, ...] = ()


@dataclass(frozen=True, slots=True)
class ProvisionedUser:
    user_id: str
    attributes: UserAttributes
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class UserMatch:
    """Which users to list; None matches any.

    user_name: without regard to case. is_met: a further condition, of which PostgreSQL knows
    nothing.
    """

    user_id: str | None = None
    user_name: str | None = None
    external_id: str | None = None
    is_active: bool | None = None
    is_met: Callable[[ProvisionedUser], bool] | None = None


class UserProvisioning:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, tenant: str, attributes: UserAttributes) -> ProvisionedUser:
        """Raises `ProvisioningRefused` if another user has the name or the subject.

        Keys that an admin has made for the subject work on, unless the subject was suspended.
        """
        async with self._database.transaction() as session:
            row = await session.row("provisioning.create_user", tenant, *_values(attributes))
            if row is None:
                raise _taken()
            user = _user(row)
            if attributes.is_active:
                resumed = await _resume(session, tenant, attributes.subject)
            else:
                resumed = await _suspend(session, tenant, attributes.subject)
            await session.rows("provisioning.raise_access_revision", tenant)
            await _log(session, tenant, "user.create", user, **resumed)
            return user

    async def get(self, tenant: str, user_id: str) -> ProvisionedUser | None:
        _, users = await self.page(tenant, UserMatch(user_id=user_id), start=0, limit=1)
        return users[0] if users else None

    async def page(
        self, tenant: str, match: UserMatch, *, start: int, limit: int
    ) -> tuple[int, list[ProvisionedUser]]:
        """The number of matching users, and those from `start` on.

        Raises `ProvisioningRefused` if too many have to be examined one by one.
        """
        arguments = (tenant, match.user_id, match.user_name, match.external_id, match.is_active)
        is_met = match.is_met
        async with self._database.snapshot() as session:
            if is_met is None:
                total = await session.value("provisioning.count_users", *arguments)
                rows = await session.rows("provisioning.users_page", *arguments, start, limit)
                return total, [_user(row) for row in rows]
            batches = examine_rows(session, "provisioning.users_page", *arguments)
            users = [user async for rows in batches for user in map(_user, rows) if is_met(user)]
        return len(users), users[start : start + limit]

    async def update(
        self, tenant: str, user_id: str, change: Callable[[UserAttributes], UserAttributes]
    ) -> ProvisionedUser | None:
        """Change the user as `change` says, and its subject's credentials with it.

        None if there is no such user. Raises `ProvisioningRefused` as `create` does. The change has
        arrived everywhere when this returns, also if an earlier call has made it.
        """
        async with self._database.transaction() as session:
            row = await session.row("provisioning.lock_user", tenant, user_id)
            if row is None:
                return None
            session.raised.add(tenant)
            user = _user(row)
            after = change(user.attributes)
            if after == user.attributes:
                return user
            try:
                values = _values(after)
                updated = await session.row("provisioning.update_user", tenant, user_id, *values)
            except UniqueViolation:
                raise _taken() from None
            assert updated is not None, "its row is locked"
            ended = await _carry_over(session, tenant, user.attributes, after)
            await session.rows("provisioning.raise_access_revision", tenant)
            changed = [
                name
                for name, value in asdict(after).items()
                if getattr(user.attributes, name) != value
            ]
            await _log(session, tenant, "user.update", _user(updated), changed=changed, **ended)
            return _user(updated)

    async def delete(self, tenant: str, user_id: str) -> bool:
        """Delete the user and suspend its subject; False if there is no such user."""
        async with self._database.transaction() as session:
            session.raised.add(tenant)  # also if another call has deleted it
            row = await session.row("provisioning.lock_user", tenant, user_id)
            if row is None:
                return False
            user = _user(row)
            await session.rows("provisioning.delete_user", tenant, user_id)
            ended = await _suspend(session, tenant, user.attributes.subject)
            await session.rows("provisioning.raise_access_revision", tenant)
            await _log(session, tenant, "user.delete", user, **ended)
            return True


async def _carry_over(
    session: Session, tenant: str, before: UserAttributes, after: UserAttributes
) -> dict[str, object]:
    """Let the subjects' credentials follow the user's attributes; details for the audit log."""
    if before.subject != after.subject and after.is_active:
        await session.rows("provisioning.rename_member", tenant, before.subject, after.subject)
    ended: dict[str, object] = {}
    if before.subject != after.subject or not after.is_active:
        ended = await _suspend(session, tenant, before.subject)
    if not after.is_active:
        await _suspend(session, tenant, after.subject)
    elif not before.is_active or before.subject != after.subject:
        ended = ended or await _resume(session, tenant, after.subject)
    return ended


async def _suspend(session: Session, tenant: str, subject: str) -> dict[str, object]:
    """Let no credential of the subject work, and take it out of all groups."""
    keys = await _revoke_keys(session, tenant, subject)
    groups = await session.rows("provisioning.leave_groups", tenant, subject)
    await session.rows("provisioning.suspend", tenant, subject)
    return {
        "revoked_keys": keys[:_NAMED_MAX],
        "keys_revoked": len(keys),
        "left_groups": sorted(row["group_id"] for row in groups)[:_NAMED_MAX],
        "groups_left": len(groups),
    }


async def _resume(session: Session, tenant: str, subject: str) -> dict[str, object]:
    """Let new credentials of the subject work. Those made while it was suspended never do."""
    if not await session.rows("provisioning.resume", tenant, subject):
        return {}
    keys = await _revoke_keys(session, tenant, subject)
    return {"revoked_keys": keys[:_NAMED_MAX], "keys_revoked": len(keys)}


async def _revoke_keys(session: Session, tenant: str, subject: str) -> list[str]:
    await session.rows("provisioning.lock_keys", tenant, subject)
    rows = await session.rows("provisioning.revoke_keys", tenant, subject)
    return sorted(row["key_id"] for row in rows)


async def _log(
    session: Session, tenant: str, action: str, user: ProvisionedUser, **details: object
) -> None:
    attributes = user.attributes
    await audit_log.append(
        session,
        tenant,
        action,
        user.user_id,
        subject=attributes.subject,
        is_active=attributes.is_active,
        **details,
    )


def _values(attributes: UserAttributes) -> tuple[Any, ...]:
    return (
        attributes.subject,
        attributes.user_name,
        attributes.external_id,
        attributes.display_name,
        attributes.is_active,
        attributes.emails,
    )


def _user(row: Row) -> ProvisionedUser:
    return ProvisionedUser(
        user_id=row["user_id"],
        attributes=UserAttributes(
            subject=row["subject"],
            user_name=row["user_name"],
            external_id=row["external_id"],
            display_name=row["display_name"],
            is_active=row["is_active"],
            emails=tuple(UserEmail(**email) for email in row["emails"]),
        ),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def _taken() -> ProvisioningRefused:
    return ProvisioningRefused("uniqueness", "Another user has this name.")
