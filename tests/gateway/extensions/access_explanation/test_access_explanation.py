"""Why somebody sees a document: what is told is what happens."""

from typing import Any

import pytest

from gateway.settings.settings import Settings
from tests.gateway.support.gateways import Caller, Gateway, problem
from tests.gateway.support.keys import expire_keys

pytestmark = pytest.mark.anyio

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."


async def explained(admin: Caller, document_id: str, subject: str) -> dict[str, Any]:
    path = f"/v1/documents/{document_id}/access/explain"
    answer = await admin.call("GET", path, params={"subject": subject})
    assert answer.status_code == 200, answer.text
    explanation: dict[str, Any] = answer.json()
    return explanation


READERS = [
    ([], "ana", ["private"]),
    ([], "eve", []),
    (["tenant"], "eve", ["tenant"]),
    (["public"], "eve", ["public"]),
    (["user:eve"], "eve", ["shared"]),
    (["user:ben"], "eve", []),
    (["group:sales"], "eve", ["shared"]),
    (["group:board"], "eve", []),
    (["user:ana", "group:sales", "tenant"], "ana", ["private", "tenant"]),
    (["group:board", "user:eve", "public"], "eve", ["shared", "public"]),
]


@pytest.mark.thorough
@pytest.mark.isolated
async def test_the_scopes_that_are_told_are_those_that_find_it(
    gateway: Gateway, admin: Caller
) -> None:
    await admin.call("PUT", "/v1/groups/sales/members/eve")
    await gateway.receive_public()
    ana = await gateway.caller("ana", roles=["writer", "publisher"])

    for readers, subject, scopes in READERS:
        await ana.put("leave", LEAVE, readers=readers)
        caller = await gateway.caller(subject)

        explanation = await explained(admin, "leave", subject)

        assert (explanation["can_read"], explanation["scopes"]) == (bool(scopes), scopes), readers
        for scope in ("private", "shared", "tenant", "public"):
            found = await caller.found("annual leave", scopes=[scope])
            assert found == (["leave"] if scope in scopes else []), readers
        assert [reader["reader"] for reader in explanation["readers"]] == ["owner:ana", *readers], (
            readers
        )
        assert any(reader["matches"] for reader in explanation["readers"]) == bool(scopes), readers


async def test_each_key_is_told_apart(gateway: Gateway, ana: Caller, admin: Caller) -> None:
    await ana.put("leave", LEAVE, readers=["group:sales"], source="wiki")
    plain = await gateway.caller("eve", name="plain")
    seller = await gateway.caller("eve", name="seller", groups=["sales"])
    for name, fields in (
        ("narrow", {"scopes": ["tenant"]}),
        ("mail", {"filter": {"sources": ["mail"]}}),
        ("wiki", {"filter": {"sources": ["wiki"]}}),
    ):
        body = {"name": name, **fields}
        assert (await seller.call("POST", "/v1/tokens", json=body)).status_code == 201

    explanation = await explained(admin, "leave", "eve")

    assert await plain.found("annual leave") == []
    assert not explanation["can_read"]
    assert {key["name"]: (key["can_read"], key["reason"]) for key in explanation["keys"]} == {
        "plain": (False, "no reader token of the document matches the key"),
        "seller": (True, "the key has a group that may read it"),
        "narrow": (False, "no reader token of the document matches the key"),
        "mail": (False, "the key's filter excludes the document"),
        "wiki": (True, "the key has a group that may read it"),
    }


async def test_only_the_tenants_own_admins_are_told(
    gateway: Gateway, ana: Caller, admin: Caller
) -> None:
    await ana.put("leave", LEAVE)
    beta = await gateway.new_tenant()
    stranger = await gateway.caller("ada", tenant=beta, roles=["admin"])
    path = "/v1/documents/leave/access/explain"

    problem(await ana.call("GET", path, params={"subject": "ana"}), 403)
    problem(await stranger.call("GET", path, params={"subject": "ana"}), 404)
    problem(await admin.call("GET", path), 422)
    problem(await admin.call("GET", path.replace("leave", "none"), params={"subject": "a"}), 404)


async def test_what_is_revoked_or_expired_is_not_told(
    gateway: Gateway, ana: Caller, admin: Caller, shared_settings: Settings
) -> None:
    await ana.put("leave", LEAVE, readers=["tenant"])
    await gateway.caller("eve")
    await expire_keys(shared_settings, gateway.tenant_name, "eve")
    made = await admin.call("POST", "/v1/keys", json={"subject": "eve"})
    await admin.call("DELETE", f"/v1/keys/{made.json()['id']}")

    assert (await explained(admin, "leave", "eve"))["keys"] == []
