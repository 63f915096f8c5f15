"""Lists of groups, members and tokens: a page at a time, of one's own tenant, without secrets."""

from typing import Any

import pytest

from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio


async def listed(caller: Caller, path: str) -> dict[str, Any]:
    answer = await caller.call("GET", path)
    assert answer.status_code == 200, answer.text
    page: dict[str, Any] = answer.json()
    return page


async def new_token(caller: Caller, **fields: Any) -> tuple[str, Caller]:
    made = (await caller.call("POST", "/v1/tokens", json=fields)).json()
    return made["id"], Caller(caller.client, made["token"])


async def token_ids(caller: Caller) -> set[str]:
    return {token["id"] for token in (await listed(caller, "/v1/tokens"))["tokens"]}


class TestGroups:
    async def test_groups_are_listed_with_the_number_of_their_members(self, admin: Caller) -> None:
        for group, subject in (("sales", "ana"), ("sales", "ben"), ("a/b", "ana"), ("left", "eve")):
            await admin.call("PUT", f"/v1/groups/{group}/members/{subject}")
        await admin.call("DELETE", "/v1/groups/left/members/eve")

        page = await listed(admin, "/v1/groups")

        assert page["groups"] == [
            {"group": "a/b", "members": 1},
            {"group": "left", "members": 0},
            {"group": "sales", "members": 2},
        ]
        assert page["cursor"] is None
        members = (await listed(admin, "/v1/groups/a/b/members"))["members"]
        assert [member["subject"] for member in members] == ["ana"]

    @pytest.mark.thorough
    async def test_a_page_has_a_hundred_and_the_next_begins_after_it(self, admin: Caller) -> None:
        for number in range(105):
            await admin.call("PUT", f"/v1/groups/all/members/s{number:03}")

        first = await listed(admin, "/v1/groups/all/members")
        second = await listed(admin, f"/v1/groups/all/members?cursor={first['cursor']}")

        subjects = [member["subject"] for page in (first, second) for member in page["members"]]
        assert subjects == [f"s{number:03}" for number in range(105)]
        assert second["cursor"] is None

    async def test_another_tenants_groups_are_not_there(
        self, gateway: Gateway, admin: Caller
    ) -> None:
        await admin.call("PUT", "/v1/groups/sales/members/ben")
        other = await gateway.caller("ada", tenant=await gateway.new_tenant(), roles=["admin"])

        assert (await listed(other, "/v1/groups"))["groups"] == []
        assert (await listed(other, "/v1/groups/sales/members"))["members"] == []

    @pytest.mark.parametrize("path", ["/v1/groups", "/v1/groups/sales/members"])
    async def test_a_writer_may_not_list_them(self, ana: Caller, path: str) -> None:
        problem(await ana.call("GET", path), 403)

    async def test_a_group_of_no_form_is_refused(self, admin: Caller) -> None:
        problem(await admin.call("GET", "/v1/groups/a%20b/members"), 422)


class TestTokens:
    async def test_an_admins_key_sees_the_tenants_and_others_their_own(
        self, gateway: Gateway, ana: Caller, ben: Caller, admin: Caller
    ) -> None:
        of_ana, _ = await new_token(ana, name="agent", read_only=True)
        of_ben, _ = await new_token(ben)
        other = await gateway.caller("ada", tenant=await gateway.new_tenant(), roles=["admin"])

        assert await token_ids(admin) == {of_ana, of_ben}
        assert await token_ids(ben) == {of_ben}
        assert await token_ids(other) == set()
        (shown,) = (await listed(ana, "/v1/tokens"))["tokens"]
        assert (shown["name"], shown["subject"], shown["roles"]) == ("agent", "ana", ["reader"])
        assert shown["made_with"].startswith("key_")
        assert not set(shown) & {"token", "digest", "key"}

    async def test_a_token_sees_itself_and_what_it_has_made(self, admin: Caller) -> None:
        parent_id, parent = await new_token(admin)
        child_id, child = await new_token(parent)
        await new_token(admin)

        assert await token_ids(parent) == {parent_id, child_id}
        assert await token_ids(child) == {child_id}

    async def test_a_revoked_token_is_gone(self, ana: Caller) -> None:
        token_id, _ = await new_token(ana)

        await ana.call("DELETE", f"/v1/tokens/{token_id}")

        assert await token_ids(ana) == set()

    async def test_keys_are_not_tokens(self, ana: Caller, admin: Caller) -> None:
        assert await token_ids(admin) == await token_ids(ana) == set()
