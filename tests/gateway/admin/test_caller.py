"""Whom the gateway takes a caller for."""

import pytest

from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio


async def test_a_caller_learns_its_tenant_groups_and_roles(
    gateway: Gateway, ben: Caller, admin: Caller
) -> None:
    await admin.call("PUT", "/v1/groups/board/members/ben")

    answer = await ben.call("GET", "/v1/caller")

    assert answer.status_code == 200
    told = answer.json()
    assert (told["tenant"], told["subject"]) == (gateway.tenant_name, "ben")
    assert told["groups"] == ["board", "sales"]
    assert told["roles"] == ["reader", "writer"]
    assert told["key_id"].startswith("key_")
    assert not told["is_operator"]
    assert not told["is_token"]


async def test_a_token_learns_what_it_was_narrowed_to(ben: Caller) -> None:
    made = await ben.call("POST", "/v1/tokens", json={"scopes": ["tenant"], "read_only": True})
    token = Caller(ben.client, made.json()["token"])

    told = (await token.call("GET", "/v1/caller")).json()

    assert (told["scopes"], told["roles"], told["is_token"]) == (["tenant"], ["reader"], True)
    assert told["expires_at"] is not None


async def test_the_operator_is_no_principal(gateway: Gateway) -> None:
    told = (await gateway.operator.call("GET", "/v1/caller")).json()

    assert told["is_operator"]
    assert (told["tenant"], told["subject"], told["roles"]) == (None, None, [])


async def test_nobody_learns_nothing(gateway: Gateway) -> None:
    problem(await gateway.stranger.call("GET", "/v1/caller"), 401)
