"""Keys: made, listed, rotated, revoked; each carries what it says, and no more."""

from typing import Any

import pytest

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, Gateway, problem, running
from tests.gateway.support.keys import expire_keys, new_key
from tests.gateway.support.module_gateway import *  # noqa: F403  the fixtures

pytestmark = pytest.mark.anyio

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."


@pytest.fixture
async def tenant(gateway: Gateway) -> str:
    return await gateway.new_tenant()


@pytest.fixture
async def admin(gateway: Gateway, tenant: str) -> Caller:
    return await gateway.caller("ada", tenant=tenant, roles=["admin"])


async def listed(caller: Caller, **parameters: str) -> list[dict[str, Any]]:
    answer = await caller.call("GET", "/v1/keys", params=parameters)
    assert answer.status_code == 200, answer.text
    keys: list[dict[str, Any]] = answer.json()["keys"]
    return keys


@pytest.mark.thorough
async def test_an_admin_makes_keys_of_its_own_tenant_named_or_not(
    gateway: Gateway, admin: Caller, tenant: str
) -> None:
    for fields in ({}, {"tenant": tenant}):
        made = await new_key(admin, **fields)
        eve = Caller(gateway.client, made.key)
        await eve.put("leave", LEAVE, readers=["tenant"])
        assert await admin.found("annual leave") == ["leave"]


async def test_an_admin_finds_no_tenant_but_its_own(
    gateway: Gateway, admin: Caller, tenant: str
) -> None:
    other = await gateway.new_tenant()

    answers = [
        await admin.call("POST", "/v1/keys", json={"tenant": named, "subject": "eve"})
        for named in (other, "there-is-none")
    ]

    assert len({answer.content for answer in answers}) == 1
    assert problem(answers[0], 404)["errors"][0]["field"] == "tenant"


async def test_a_key_carries_its_subject_groups_and_roles(gateway: Gateway, admin: Caller) -> None:
    await admin.put("for-sales", LEAVE, readers=["group:sales"])
    await admin.put("for-eve", LEAVE + " Or more.", readers=["user:eve"])
    eve = Caller(
        gateway.client, (await new_key(admin, groups=["sales", "x"], roles=["reader"])).key
    )
    zoe = Caller(gateway.client, (await new_key(admin, subject="zoe")).key)

    assert set(await eve.found("annual leave")) == {"for-sales", "for-eve"}
    problem(await eve.call("PUT", "/v1/documents/own", json={"text": "x"}), 403)
    assert await zoe.found("annual leave") == []
    assert (await zoe.put("own", "x"))["document_id"] == "own"


async def test_the_operator_has_to_name_a_tenant(gateway: Gateway) -> None:
    answer = await gateway.operator.call("POST", "/v1/keys", json={"subject": "eve"})

    assert problem(answer, 422)["errors"][0]["field"] == "tenant"


async def test_a_key_is_revoked_once_and_by_its_own_tenant_or_the_operator(
    gateway: Gateway, admin: Caller, tenant: str
) -> None:
    first, second = await new_key(admin), await new_key(admin)
    stranger = await gateway.caller("ada", tenant=await gateway.new_tenant(), roles=["admin"])
    eve, eve_too = (Caller(gateway.client, made.key) for made in (first, second))
    assert await eve.found("x") == await eve_too.found("x") == []

    problem(await stranger.call("DELETE", f"/v1/keys/{first.key_id}"), 404)
    assert await eve.found("x") == []
    assert (await admin.call("DELETE", f"/v1/keys/{first.key_id}")).status_code == 204
    problem(await eve.call("POST", "/v1/search", json={"query": "x"}), 401)
    problem(await admin.call("DELETE", f"/v1/keys/{first.key_id}"), 404)
    assert await eve_too.found("x") == []
    assert (await gateway.operator.call("DELETE", f"/v1/keys/{second.key_id}")).status_code == 204
    problem(await eve_too.call("POST", "/v1/search", json={"query": "x"}), 401)


async def test_an_admin_that_revokes_its_own_key_is_out(gateway: Gateway, admin: Caller) -> None:
    made = await new_key(admin, subject="ada", roles=["admin"])
    ada = Caller(gateway.client, made.key)

    assert (await ada.call("DELETE", f"/v1/keys/{made.key_id}")).status_code == 204

    problem(await ada.call("POST", "/v1/keys", json={"subject": "eve"}), 401)


async def test_a_key_works_until_it_expires(
    gateway: Gateway, admin: Caller, tenant: str, settings: Settings
) -> None:
    eve = Caller(gateway.client, (await new_key(admin, subject="eve")).key)
    await expire_keys(settings, tenant, "eve")
    problem(await eve.call("POST", "/v1/search", json={"query": "x"}), 401)
    for expires_at in ("2099-01-01T00:00:00Z", "2099-01-01T00:00:00+02:00"):
        made = await new_key(admin, expires_at=expires_at)
        answer = await Caller(gateway.client, made.key).call("GET", "/v1/documents")
        assert answer.status_code == 200


async def test_a_key_that_would_never_work_is_not_made(admin: Caller) -> None:
    body = {"subject": "eve", "expires_at": "2020-01-01T00:00:00Z"}

    refused = problem(await admin.call("POST", "/v1/keys", json=body), 422)

    assert refused["errors"] == [
        {"field": "expires_at", "detail": "is in the past, so that the key would never work"}
    ]


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
async def test_the_scheme_is_written_as_one_likes(
    gateway: Gateway, admin: Caller, scheme: str
) -> None:
    answer = await gateway.client.get(
        "/v1/documents", headers={"Authorization": f"{scheme} {admin.key}"}
    )

    assert answer.status_code == 200


async def test_keys_are_listed_with_what_they_may_and_no_secret(
    gateway: Gateway, admin: Caller, tenant: str
) -> None:
    made = await new_key(
        admin, name="the crawler", groups=["sales"], roles=["reader"], scopes=["public", "tenant"]
    )
    gone = await new_key(admin, subject="zoe")
    await admin.call("DELETE", f"/v1/keys/{gone.key_id}")

    by_id = {key["id"]: key for key in await listed(admin)}

    assert by_id[made.key_id] | {"created_at": ""} == {
        "id": made.key_id,
        "name": "the crawler",
        "subject": "eve",
        "groups": ["sales"],
        "roles": ["reader"],
        "scopes": ["tenant", "public"],
        "created_at": "",
        "expires_at": None,
        "revoked_at": None,
        "last_used_at": None,
    }
    assert by_id[gone.key_id]["revoked_at"] is not None
    assert len(by_id) == 3  # the admin's own, too
    assert await listed(gateway.operator, tenant=tenant) == list(by_id.values())
    assert made.key not in str(by_id)


async def test_keys_of_another_tenant_are_not_there(gateway: Gateway, admin: Caller) -> None:
    other = await gateway.new_tenant()

    for named in (other, "there-is-none"):
        problem(await admin.call("GET", "/v1/keys", params={"tenant": named}), 404)
    problem(await gateway.operator.call("GET", "/v1/keys"), 422)


@pytest.mark.thorough
@pytest.mark.slow
async def test_many_keys_come_page_by_page(gateway: Gateway, admin: Caller) -> None:
    for number in range(100):
        await new_key(admin, name=str(number))

    first = (await admin.call("GET", "/v1/keys")).json()
    second = (await admin.call("GET", "/v1/keys", params={"cursor": first["cursor"]})).json()

    assert (len(first["keys"]), len(second["keys"]), second["cursor"]) == (100, 1, None)


async def test_a_key_sees_what_its_scopes_say(gateway: Gateway, admin: Caller) -> None:
    eve = Caller(gateway.client, (await new_key(admin)).key)
    narrow = Caller(gateway.client, (await new_key(admin, scopes=["tenant"])).key)
    await eve.put("own", LEAVE)
    await eve.put("all", LEAVE + " Or more.", readers=["tenant"])

    assert set(await eve.found("annual leave")) == {"own", "all"}
    assert await narrow.found("annual leave") == ["all"]
    assert await narrow.found("annual leave", scopes=["private"]) == []
    for method, path, body in (
        ("GET", "/v1/documents/own", None),
        ("DELETE", "/v1/documents/own", None),
        ("PATCH", "/v1/documents/own/access", {"readers": ["public"]}),
    ):
        problem(await narrow.call(method, path, json=body), 404)
    shown = (await narrow.call("GET", "/v1/documents")).json()["documents"]
    assert [document["document_id"] for document in shown] == ["all"]


async def test_a_key_is_rotated_with_an_overlap(
    gateway: Gateway, admin: Caller, settings: Settings, embedder: Embedder
) -> None:
    old = await new_key(admin, groups=["sales"], roles=["reader"], name="crawler")
    await admin.put("for-sales", LEAVE, readers=["group:sales"])
    before = Caller(gateway.client, old.key)
    assert await before.found("annual leave") == ["for-sales"]

    answer = await admin.call("POST", f"/v1/keys/{old.key_id}/rotate", json={"overlap_s": 3600})
    made = answer.json()

    after = Caller(gateway.client, made["key"])
    assert await after.found("annual leave") == await before.found("annual leave") == ["for-sales"]
    by_id = {key["id"]: key for key in await listed(admin)}
    assert by_id[made["id"]]["expires_at"] is None
    assert by_id[old.key_id]["expires_at"] is not None
    assert by_id[made["id"]]["name"] == "crawler"


async def test_without_an_overlap_the_old_key_ends_at_once(gateway: Gateway, admin: Caller) -> None:
    old = await new_key(admin)
    before = Caller(gateway.client, old.key)
    assert await before.found("x") == []

    answer = await admin.call("POST", f"/v1/keys/{old.key_id}/rotate", json={"overlap_s": 0})

    assert await Caller(gateway.client, answer.json()["key"]).found("x") == []
    problem(await before.call("POST", "/v1/search", json={"query": "x"}), 401)
    problem(await admin.call("POST", f"/v1/keys/{old.key_id}/rotate"), 404)


async def test_rotation_never_makes_a_key_last_longer(gateway: Gateway, admin: Caller) -> None:
    old = await new_key(admin, expires_at="2098-01-01T00:00:00Z")

    made = (await admin.call("POST", f"/v1/keys/{old.key_id}/rotate")).json()
    again = (await admin.call("POST", f"/v1/keys/{old.key_id}/rotate")).json()

    by_id = {key["id"]: key for key in await listed(admin)}
    for key_id in (made["id"], again["id"]):
        assert by_id[key_id]["expires_at"] in (
            "2098-01-01T00:00:00Z",
            by_id[old.key_id]["expires_at"],
        )


@pytest.mark.slow
async def test_it_is_kept_when_a_key_was_last_used(
    settings: Settings, embedder: Embedder, admin: Caller, gateway: Gateway
) -> None:
    made = await new_key(admin)
    async with running(settings, embedder) as other:  # which keeps it when it stops
        await Caller(other.client, made.key).found("x")

    by_id = {key["id"]: key for key in await listed(admin)}

    assert by_id[made.key_id]["last_used_at"] is not None
