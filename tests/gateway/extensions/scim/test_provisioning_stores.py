"""Provisioned users at rest: what races with their end."""

from dataclasses import replace

import pytest

from gateway.extensions.scim import examined_rows, group_provisioning
from gateway.extensions.scim.errors import ProvisioningRefused
from gateway.extensions.scim.group_provisioning import (
    GroupChange,
    GroupMatch,
    GroupName,
    GroupProvisioning,
)
from gateway.extensions.scim.user_provisioning import UserAttributes, UserMatch, UserProvisioning
from index.postgres.database import Database
from index.tenants.keys import KeyStore, NewKey
from index.tenants.principals import PrincipalStore
from index.tenants.tenant_store import TenantStore
from tests.index.conftest import *  # noqa: F403  the fixtures

pytestmark = pytest.mark.anyio

BEN = UserAttributes("ben", "ben", None, None, is_active=True)


async def test_a_key_whose_creation_has_passed_its_check_before_the_end_never_works(
    database: Database, tenants: TenantStore
) -> None:
    users = UserProvisioning(database)
    user = await users.create("acme", BEN)
    await users.update("acme", user.user_id, lambda before: replace(before, is_active=False))
    late: tuple[object, ...] = ("acme", "key_late", b"late", "", "ben", [], ["reader"], ["tenant"])
    await database.rows("principals.create", *late, None, False, [], None, None, None, False, [])

    assert await PrincipalStore(database).holder_at(b"late") is None

    await users.update("acme", user.user_id, lambda before: replace(before, is_active=True))

    assert await PrincipalStore(database).holder_at(b"late") is None


async def test_a_token_has_no_group_that_its_key_has_lost(
    database: Database, tenants: TenantStore
) -> None:
    keys, principals = KeyStore(database), PrincipalStore(database)
    user = await UserProvisioning(database).create("acme", BEN)
    groups = GroupProvisioning(database)
    name = GroupName("sales", "Sales", None)
    group = await groups.create("acme", GroupChange(name, added=frozenset({user.user_id})))
    await keys.create("acme", NewKey("key_1", b"1", "ben", ("sales", "x"), ("reader",), None))

    left = GroupChange(name, removed=frozenset({user.user_id}))
    await groups.update("acme", group, lambda *_: left)
    token = NewKey("tok_1", b"2", "ben", (), ("reader",), None, is_token=True, made_with="key_1")
    await keys.create("acme", token)

    for digest in (b"1", b"2"):
        held = await principals.holder_at(digest)
        assert held is not None
        assert held[0].groups == ("x",)


async def test_a_group_and_a_page_of_groups_hold_no_more_than_their_limit(
    database: Database, tenants: TenantStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_provisioning, "MEMBERS_MAX", 3)
    users, groups = UserProvisioning(database), GroupProvisioning(database)
    ids = [
        (await users.create("acme", replace(BEN, subject=name, user_name=name))).user_id
        for name in "abcd"
    ]
    for name in ("one", "two", "three"):
        change = GroupChange(GroupName(name, name, None), added=frozenset(ids[:2]))
        scim_id = await groups.create("acme", change)

    with pytest.raises(ProvisioningRefused, match="at most 3"):
        await groups.update(
            "acme", scim_id, lambda name, _: GroupChange(name, added=frozenset(ids))
        )
    full = await groups.get("acme", scim_id)
    assert full is not None
    assert len(full.users) == 2
    starts = []
    for start in (0, 1, 2):
        total, page = await groups.page(
            "acme", GroupMatch(), start=start, limit=10, with_users=True
        )
        assert (total, len(page)) == (3, 1)
        starts += [group.name.group_id for group in page]
    assert sorted(starts) == ["one", "three", "two"]


async def test_a_condition_examines_no_more_than_its_limit(
    database: Database, tenants: TenantStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examined_rows, "EXAMINED_MAX", 2)
    users = UserProvisioning(database)
    for name in ("ana", "ben", "cy"):
        await users.create("acme", replace(BEN, subject=name, user_name=name))

    with pytest.raises(ProvisioningRefused, match="more than 2"):
        await users.page("acme", UserMatch(is_met=lambda _: True), start=0, limit=1)
    narrowed = UserMatch(user_name="ana", is_met=lambda user: user.attributes.is_active)
    total, _ = await users.page("acme", narrowed, start=0, limit=1)

    assert total == 1
