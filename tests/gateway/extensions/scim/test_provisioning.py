"""SCIM over HTTP, with the bodies that Okta and Entra ID document."""

import asyncio
from typing import Any

import httpx2
import orjson
import pytest

from gateway.bodies import schemas
from gateway.extensions.scim.group_provisioning import MEMBERS_MAX
from gateway.extensions.scim.scim_schemas import GroupBody
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, Gateway, problem, running

pytestmark = pytest.mark.anyio

USER = "urn:ietf:params:scim:schemas:core:2.0:User"
ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
LEAVE = "Everybody has 25 days of annual leave."


class Provider:
    """An identity provider that provisions a tenant."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller

    async def call(self, method: str, path: str, **kwargs: Any) -> httpx2.Response:
        headers = {"Content-Type": "application/scim+json; charset=utf-8"}
        return await self.caller.call(method, f"/scim/v2{path}", headers=headers, **kwargs)

    async def patch(self, path: str, *operations: dict[str, Any]) -> httpx2.Response:
        body = {"schemas": [PATCH], "Operations": operations}
        return await self.call("PATCH", path, json=body)

    async def user(self, name: str, **attributes: Any) -> str:
        """The identifier of a new user, with the body that Okta sends."""
        body = {
            "schemas": [USER],
            "userName": name,
            "name": {"givenName": "Ben", "familyName": "Silva"},
            "emails": [{"primary": True, "value": f"{name}@example.com", "type": "work"}],
            "displayName": "Ben Silva",
            "locale": "en-US",
            "externalId": f"00u-{name}",
            "groups": [],
            "password": "1mz050nq",
            "active": True,
            **attributes,
        }
        created = await self.call("POST", "/Users", json=body)
        assert created.status_code == 201, created.text
        identifier: str = created.json()["id"]
        assert created.headers["location"] == f"/scim/v2/Users/{identifier}"
        assert "1mz050nq" not in created.text
        return identifier

    async def group(self, name: str, *users: str) -> str:
        body = {"displayName": name, "members": [{"value": user, "display": "x"} for user in users]}
        created = await self.call("POST", "/Groups", json=body)
        assert created.status_code == 201, created.text
        identifier: str = created.json()["id"]
        return identifier

    async def members(self, group: str) -> set[str]:
        shown = await self.call("GET", f"/Groups/{group}")
        assert shown.headers["content-type"] == "application/scim+json"
        return {member["value"] for member in shown.json().get("members", ())}


@pytest.fixture
async def provider(gateway: Gateway) -> Provider:
    return Provider(await gateway.caller("idp", roles=["provisioner"]))


def refusal(answer: httpx2.Response, status: int, scim_type: str | None = None) -> str:
    """The detail of a SCIM error."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/scim+json"
    body = answer.json()
    assert body["schemas"] == ["urn:ietf:params:scim:api:messages:2.0:Error"]
    assert body["status"] == str(status)
    assert body.get("scimType") == scim_type
    detail: str = body["detail"]
    return detail


async def actions(admin: Caller) -> list[tuple[str, dict[str, Any]]]:
    rows = (await admin.call("GET", "/v1/audit/log")).json()["rows"]
    return [(row["action"], row["details"]) for row in reversed(rows)]


# The end of a user.

DEACTIVATIONS: dict[str, Any] = {
    "okta": {"op": "replace", "value": {"active": False}},
    "entra": {"op": "Replace", "path": "active", "value": "False"},
    "entra, with the schema": {"op": "Replace", "path": f"{USER}:active", "value": False},
    "entra, as a list": {
        "op": "Replace",
        "path": "active",
        "value": [{"$ref": None, "value": "False"}],
    },
    "an object": {"op": "replace", "path": "active", "value": {"value": False}},
    "inside the schema": {"op": "replace", "value": {USER: {"active": False}}},
    "with the schema as its path": {"op": "add", "path": USER, "value": {"Active": "false"}},
    "a number": {"op": "replace", "path": "active", "value": 0},
    "put": None,
    "delete": None,
}


@pytest.mark.sampled("okta", "entra")
@pytest.mark.parametrize("by", DEACTIVATIONS)
async def test_a_user_that_ends_takes_its_credentials_and_groups_along_on_every_worker(
    gateway: Gateway, other_worker: Gateway, admin: Caller, provider: Provider, by: str
) -> None:
    ben = await gateway.caller("ben")
    user = await provider.user("ben")
    group = await provider.group("People", user)
    token = Caller(gateway.client, (await ben.call("POST", "/v1/tokens", json={})).json()["token"])
    await admin.put("leave", LEAVE, readers=["group:People"])
    for worker in (gateway, other_worker):
        for credential in (ben, token):
            assert await worker.as_(credential).found("annual leave") == ["leave"]

    if by == "delete":
        ended = await provider.call("DELETE", f"/Users/{user}")
        assert ended.status_code == 204, ended.text
        refusal(await provider.call("GET", f"/Users/{user}"), 404)
    elif by == "put":
        ended = await provider.call(
            "PUT", f"/Users/{user}", json={"userName": "ben", f"{USER}:active": False}
        )
        assert ended.json()["active"] is False
    else:
        ended = await provider.patch(f"/Users/{user}", DEACTIVATIONS[by])
        assert ended.json()["active"] is False

    for worker in (gateway, other_worker):
        for credential in (ben, token):
            search = await worker.as_(credential).call("POST", "/v1/search", json={"query": "x"})
            problem(search, 401)
    assert await provider.members(group) == set()
    action = "user.delete" if by == "delete" else "user.update"
    details = next(details for name, details in await actions(admin) if name == action)
    assert (details["keys_revoked"], details["left_groups"]) == (2, ["people"])


async def test_an_activation_revives_no_key_and_gives_no_group_back(
    gateway: Gateway, admin: Caller, provider: Provider
) -> None:
    ben = await gateway.caller("ben")
    user = await provider.user("ben", active=True)
    group = await provider.group("People", user)
    await admin.put("leave", LEAVE, readers=["group:People"])
    await provider.patch(f"/Users/{user}", DEACTIVATIONS["okta"])
    body = {"subject": "ben"}
    refused = problem(await admin.call("POST", "/v1/keys", json=body), 409)

    await provider.patch(f"/Users/{user}", {"op": "Replace", "path": "active", "value": "True"})

    assert "activate" in refused["detail"].lower()
    problem(await ben.call("POST", "/v1/search", json={"query": "x"}), 401)
    new = await gateway.caller("ben")
    assert await new.found("annual leave") == []
    await provider.patch(
        f"/Groups/{group}", {"op": "add", "path": "members", "value": [{"value": user}]}
    )
    assert await new.found("annual leave") == ["leave"]


async def test_a_user_that_comes_again_begins_without_what_it_had(
    gateway: Gateway, provider: Provider
) -> None:
    ben = await gateway.caller("ben")
    first = await provider.user("ben")
    await provider.call("DELETE", f"/Users/{first}")

    second = await provider.user("BEN", externalId=None)
    third = await provider.user("ben@example.com")

    assert len({first, second, third}) == 3
    problem(await ben.call("GET", "/v1/caller"), 401)
    taken = await provider.call("POST", "/Users", json={"userName": "Ben@Example.com"})
    refusal(taken, 409, "uniqueness")


async def test_a_renamed_user_keeps_its_groups_and_its_old_name_opens_nothing(
    gateway: Gateway, admin: Caller, provider: Provider
) -> None:
    old = await gateway.caller("ben")
    user = await provider.user("ben")
    group = await provider.group("People", user)
    await admin.put("leave", LEAVE, readers=["group:People"])

    renamed = await provider.patch(
        f"/Users/{user}", {"op": "Replace", "path": "userName", "value": "benedita"}
    )

    assert renamed.json()["userName"] == "benedita"
    problem(await old.call("GET", "/v1/caller"), 401)
    assert await (await gateway.caller("benedita")).found("annual leave") == ["leave"]
    assert await provider.members(group) == {user}


@pytest.mark.isolated
async def test_the_providers_own_identifier_names_the_subject_if_the_operator_says_so(
    settings: Settings, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEARHIT_SCIM_SUBJECT", "externalId")

    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        provider = Provider(await gateway.caller("okta", roles=["admin"]))
        user = await provider.user("ana", externalId="00u-1")
        by_name = await gateway.caller("ana", roles=["reader"])
        by_identifier = await gateway.caller("00u-1", roles=["reader"])
        await provider.patch(f"/Users/{user}", {"op": "replace", "value": {"active": False}})
        ended = await by_identifier.call("POST", "/v1/search", json={"query": "leave"})

        assert ended.status_code == 401
        assert await by_name.found("annual leave") == []


# Groups.


async def test_members_follow_the_operations_of_okta_and_entra(
    gateway: Gateway, admin: Caller, provider: Provider
) -> None:
    users = [await provider.user(name) for name in ("u0", "u1", "u2")]
    readers = [await gateway.caller(name) for name in ("u0", "u1", "u2")]
    await admin.put("leave", LEAVE, readers=["group:Sales-Team"])
    group = await provider.group("Sales Team")

    def values(*numbers: int) -> list[dict[str, Any]]:
        return [{"$ref": None, "value": users[number]} for number in numbers]

    steps: list[tuple[dict[str, Any], set[int]]] = [
        ({"op": "Add", "path": "members", "value": values(0)}, {0}),
        ({"op": "add", "path": "members", "value": values(0, 1)}, {0, 1}),
        ({"op": "Remove", "path": "members", "value": values(0)}, {1}),
        ({"op": "replace", "path": "members", "value": values(0, 2)}, {0, 2}),
        ({"op": "remove", "path": f'members[value eq "{users[2]}"]'}, {0}),
        ({"op": "Add", "value": {"members": values(1, 2)}}, {0, 1, 2}),
        (
            {
                "op": "remove",
                "path": f'members[value eq "{users[1]}" or value eq "{users[2]}"]',
            },
            {0},
        ),
        ({"op": "replace", "path": "members", "value": None}, set()),
        ({"op": "Add", "path": "members", "value": values(0, 1)}, {0, 1}),
        ({"op": "remove", "path": "members"}, set()),
    ]
    for operation, expected in steps:
        changed = await provider.patch(f"/Groups/{group}", operation)
        assert changed.status_code == 204, changed.text
        assert await provider.members(group) == {users[number] for number in expected}
        found = [await reader.found("annual leave") for reader in readers]
        assert found == [["leave"] if number in expected else [] for number in range(3)]

    replaced = await provider.call(
        "PUT", f"/Groups/{group}", json={"displayName": "Sales Team", "members": values(1)}
    )
    assert [member["display"] for member in replaced.json()["members"]] == ["u1"]
    await provider.call("DELETE", f"/Groups/{group}")
    assert await readers[1].found("annual leave") == []


async def test_a_member_that_leaves_loses_the_group_of_its_keys_too(
    gateway: Gateway, admin: Caller, provider: Provider
) -> None:
    ben = await gateway.caller("ben", groups=["People", "others"])
    token = Caller(gateway.client, (await ben.call("POST", "/v1/tokens", json={})).json()["token"])
    user = await provider.user("ben")
    group = await provider.group("People", user)
    agent = await gateway.caller("agent")
    await admin.call("PUT", "/v1/groups/People/members/agent")
    await admin.put("leave", LEAVE, readers=["group:People"])
    await admin.put("other", "Annual leave of others.", readers=["group:others"])

    await provider.patch(f"/Groups/{group}", {"op": "replace", "path": "members", "value": []})

    for credential in (ben, token):
        assert await credential.found("annual leave") == ["other"]
    assert await agent.found("annual leave") == ["leave"]  # no user of the identity provider
    await provider.call("DELETE", f"/Groups/{group}")
    assert await agent.found("annual leave") == []


async def test_a_renamed_group_keeps_its_members_and_opens_nothing_of_its_old_name(
    gateway: Gateway, admin: Caller, provider: Provider
) -> None:
    ben = await gateway.caller("ben")
    user = await provider.user("ben")
    group = await provider.group("Old", user)
    await provider.group("Taken")
    await admin.put("old", "Annual leave of old.", readers=["group:Old"])
    await admin.put("new", "Annual leave of new.", readers=["group:New"])

    okta = {"op": "replace", "value": {"id": group, "displayName": "New"}}
    renamed = await provider.patch(f"/Groups/{group}", okta)
    taken = await provider.patch(
        f"/Groups/{group}", {"op": "Replace", "path": "displayName", "value": "Taken"}
    )

    assert renamed.status_code == 204
    refusal(taken, 409, "uniqueness")
    assert await ben.found("annual leave") == ["new"]
    assert await provider.members(group) == {user}


async def test_each_change_is_in_the_audit_log_with_who_made_it(
    gateway: Gateway, admin: Caller, provider: Provider
) -> None:
    user = await provider.user("ben")
    group = await provider.group("People", user)
    await provider.patch(f"/Groups/{group}", {"op": "remove", "path": "members"})
    await provider.patch(f"/Users/{user}", {"op": "replace", "value": {"displayName": "B"}})
    await provider.call("DELETE", f"/Users/{user}")
    await provider.call("DELETE", f"/Groups/{group}")

    rows = (await admin.call("GET", "/v1/audit/log?subject=idp")).json()["rows"]

    assert [row["action"] for row in reversed(rows)] == [
        "user.create", "group.create", "member.add", "member.remove", "user.update", "user.delete",
        "group.delete",
    ]  # fmt: skip
    assert "B" not in str(rows)  # a log that stays forever names no person but by the subject


# Reading.


async def test_lists_are_filtered_paged_and_narrowed(gateway: Gateway, provider: Provider) -> None:
    users = [await provider.user(f"person-{number}") for number in range(5)]
    await provider.group("Sales Team", *users)

    async def shown(path: str, **query: Any) -> tuple[int, list[dict[str, Any]]]:
        answer = await provider.call("GET", path, params=query)
        assert answer.status_code == 200, answer.text
        body = answer.json()
        assert body["itemsPerPage"] == len(body["Resources"])
        return body["totalResults"], body["Resources"]

    total, (found,) = await shown("/Users", filter='userName Eq "PERSON-3"')
    assert (total, found["id"]) == (1, users[3])
    assert (await shown("/Users", filter='externalId eq "00u-person-2"'))[1][0]["id"] == users[2]
    assert await shown("/Users", filter='userName eq "nobody \\"x\\""') == (0, [])
    assert (await shown("/Users", filter="externalId eq 00u-person-2"))[0] == 1
    both = 'userName eq "person-3" and (active eq true)'
    assert [user["id"] for user in (await shown("/Users", filter=both))[1]] == [users[3]]
    assert await shown("/Users", filter='id eq "a" and id eq "b"') == (0, [])
    assert (await shown("/Users", filter="active eq False"))[0] == 0
    for name in ("members", "members.value"):
        assert (await shown("/Groups", filter=f'{name} eq "{users[0]}"'))[0] == 1
        assert (await shown("/Groups", filter=f'{name} eq "nobody"'))[0] == 0
    pages = [await shown("/Users", startIndex=start, count=2) for start in (1, 3, 5, 7)]
    assert [len(page) for _, page in pages] == [2, 2, 1, 0]
    assert {user["id"] for _, page in pages for user in page} == set(users)
    assert await shown("/Users", count=0) == (5, [])
    assert len((await shown("/Users", startIndex=-3, count=1000))[1]) == 5
    _, (group,) = await shown(
        "/Groups", filter='displayName eq "sales team"', excludedAttributes="members"
    )
    assert "members" not in group
    assert (await shown("/Users", filter='userName ew "-3" or userName co "N-4"'))[0] == 2
    assert (await shown("/Users", filter='emails[type eq "work"].value sw "PERSON-1@"'))[0] == 1
    total, page = await shown("/Users", filter='not (userName ew "-0")', startIndex=2, count=2)
    assert (total, len(page)) == (4, 2)
    for condition, groups in (("display", 1), ("value", 0)):
        of_group = f'displayName sw "sales" and members[{condition} eq "person-1"]'
        assert (await shown("/Groups", filter=of_group))[0] == groups
    _, (group,) = await shown("/Groups", attributes="members.value")
    assert set(group) == {"schemas", "id", "members"}
    assert len(group["members"]) == 5


async def test_a_patch_of_what_is_not_kept_succeeds_and_changes_nothing(
    provider: Provider, gateway: Gateway
) -> None:
    user = await provider.user("ben")
    before = (await provider.call("GET", f"/Users/{user}")).json()

    patched = await provider.patch(
        f"/Users/{user}",
        {"op": "Add", "path": 'addresses[type eq "work"].country', "value": "PT"},
        {"op": "Replace", "path": "name.familyName", "value": "Souza"},
        {"op": "Replace", "path": "id", "value": "another"},
        {"op": "Remove", "path": "active"},
        {"op": "Add", "path": f"{ENTERPRISE}:department", "value": "Sales"},
        {"op": "Add", "value": {"name.givenName": "B", f"{ENTERPRISE}:manager": "x"}},
    )

    assert patched.json() == before


WORK, HOME = (
    {"value": f"{kind}@x.example", "type": kind, "primary": False} for kind in ("work", "home")
)
NEW = "new@x.example"
EMAILS: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
    (
        {"op": "Add", "path": 'emails[type eq "work"].value', "value": NEW},
        [WORK | {"value": NEW}, HOME],
    ),
    (
        {"op": "add", "path": 'emails[type eq "other"].value', "value": NEW},
        [WORK, HOME, {"value": NEW, "type": "other", "primary": False}],
    ),
    (
        {
            "op": "Replace",
            "path": "emails[primary ne true and type eq home]",
            "value": {"Value": NEW},
        },
        [WORK, {"value": NEW, "type": None, "primary": False}],
    ),
    ({"op": "replace", "path": "emails", "value": [HOME]}, [HOME]),
    ({"op": "replace", "value": {"emails": HOME}}, [HOME]),
    ({"op": "add", "path": "emails", "value": [HOME, "no address"]}, [WORK, HOME]),
    ({"op": "remove", "path": 'emails[value ew "@x.example"]'}, []),
    ({"op": "remove", "path": 'emails[not (type eq "work")]'}, [WORK]),
    ({"op": "remove", "path": "emails"}, []),
    ({"op": "remove", "path": 'emails[type eq "work"].type'}, [WORK | {"type": None}, HOME]),
    ({"op": "replace", "path": 'emails[type eq "work"].value', "value": None}, [HOME]),
]


@pytest.mark.parametrize(
    "value", ["New", ["New"], {"value": "New"}, [{"$ref": None, "value": "New"}]]
)
@pytest.mark.parametrize(
    ("of", "name"), [("user", "userName"), ("user", "externalId"), ("group", "displayName")]
)
async def test_one_value_may_come_as_a_list_or_an_object(
    provider: Provider, of: str, name: str, value: object
) -> None:
    path = f"/Users/{await provider.user('ben')}"
    if of == "group":
        path = f"/Groups/{await provider.group('People')}"

    await provider.patch(path, {"op": "Replace", "path": name, "value": value})

    assert (await provider.call("GET", path)).json()[name] == "New"


@pytest.mark.parametrize(("operation", "after"), EMAILS)
async def test_emails_follow_each_operation(
    provider: Provider, operation: dict[str, Any], after: list[dict[str, Any]]
) -> None:
    user = await provider.user("ben", emails=[WORK, HOME])

    patched = await provider.patch(f"/Users/{user}", operation)

    assert patched.json().get("emails", []) == [
        {name: value for name, value in email.items() if value is not None} for email in after
    ]


MEMBER_CONDITIONS = {
    'value eq "{0}"': {1, 2},
    "value eq {0}": {1, 2},
    'value eq "{0}" or value eq "{2}"': {1},
    'display sw "U" and not (value eq "{1}")': {1},
    'type eq "User"': set(),
    'value ne "{1}"': {1},
    'value eq "{0}" and display eq "u1"': {0, 1, 2},
    'value eq "nobody"': {0, 1, 2},
}


@pytest.mark.parametrize("condition", MEMBER_CONDITIONS)
async def test_a_condition_chooses_the_members_that_leave(
    provider: Provider, condition: str
) -> None:
    users = [await provider.user(f"u{number}") for number in range(3)]
    group = await provider.group("People", *users)

    operation = {"op": "remove", "path": f"members[{condition.format(*users)}]"}
    await provider.patch(f"/Groups/{group}", operation)

    left = {users[number] for number in MEMBER_CONDITIONS[condition]}
    assert await provider.members(group) == left


REFUSALS: list[tuple[str, str, Any, str]] = [
    ("POST", "/Users", {"displayName": "nameless"}, "invalidValue"),
    ("POST", "/Users", {"userName": "two words"}, "invalidValue"),
    ("POST", "/Users", {"userName": "a" * 129}, "invalidValue"),
    ("POST", "/Users", {"userName": "a", "active": "maybe"}, "invalidValue"),
    ("POST", "/Users", {"userName": "a", "active": []}, "invalidValue"),
    ("POST", "/Users", {"userName": "a", "active": [{"value": None}]}, "invalidValue"),
    ("POST", "/Users", {"userName": "a", "active": [{"value": "yes"}]}, "invalidValue"),
    ("POST", "/Users", {"userName": "a", "active": ["False", "True"]}, "invalidValue"),
    ("POST", "/Users", {"userName": "a", "active": 0.5}, "invalidValue"),
    (
        "PATCH",
        "/Users/{}",
        {"Operations": [{"op": "replace", "path": "active", "value": None}]},
        "invalidValue",
    ),
    *(
        ("PATCH", "/Users/{}", {"Operations": [{"op": "replace", **named}]}, "invalidPath")
        for named in (
            {"path": "active.value", "value": False},
            {"path": 'active[value eq "True"].value', "value": "False"},
            {"value": {"active.value": False}},
            {"path": "displayName.value", "value": "Ben"},
        )
    ),
    ("POST", "/Groups", {"displayName": "R\u200bD"}, "invalidValue"),
    ("POST", "/Groups", {"displayName": " "}, "invalidValue"),
    ("POST", "/Groups", {"displayName": "a", "members": [{"value": "?"}]}, "invalidValue"),
    ("PATCH", "/Users/{}", {"Operations": []}, "invalidValue"),
    ("PATCH", "/Users/{}", {"Operations": [{"op": "remove"}]}, "noTarget"),
    ("PATCH", "/Users/{}", {"Operations": [{"op": "add", "value": 1}]}, "invalidValue"),
    ("PATCH", "/Users/{}", {"Operations": [{"op": "remove", "path": "userName"}]}, "mutability"),
    (
        "PATCH",
        "/Users/{}",
        {"Operations": [{"op": "add", "path": "a b", "value": 1}]},
        "invalidPath",
    ),
    ("GET", '/Users?filter=password eq "a"', None, "invalidFilter"),
    ("GET", '/Users?filter=active eq "maybe"', None, "invalidFilter"),
    ("GET", '/Users?filter=(id eq "a"', None, "invalidFilter"),
    ("GET", f"/Users?filter={'(' * 500}", None, "invalidFilter"),
    ("GET", '/Users?filter=id eq "a" id eq "b"', None, "invalidFilter"),
    ("GET", "/Users?count=many", None, "invalidValue"),
]


async def test_an_error_names_the_attribute_and_no_type_of_python(provider: Provider) -> None:
    user = await provider.user("ben")
    operation = {"op": "replace", "path": "displayName", "value": "a\x00b"}
    body = {"Operations": [operation]}

    refused = await provider.call("PATCH", f"/Users/{user}", json=body)

    detail = refusal(refused, 400, "invalidValue")
    assert detail.endswith(" displayName: must be one line of text without control characters")
    assert "Input" not in detail


async def test_what_cannot_be_is_refused_with_its_scim_type_and_changes_nothing(
    provider: Provider,
) -> None:
    user = await provider.user("ben")

    for method, path, body, scim_type in REFUSALS:
        refused = await provider.call(method, path.format(user), json=body)
        refusal(refused, 400, scim_type)

    group = await provider.group("People", user)
    for path in ("members.value", f'members[value eq "{user}"].value'):
        operation = {"op": "remove", "path": path, "value": user}
        refused = await provider.call("PATCH", f"/Groups/{group}", json={"Operations": [operation]})
        refusal(refused, 400, "invalidPath")
    assert await provider.members(group) == {user}
    await provider.call("DELETE", f"/Groups/{group}")

    left = (await provider.call("GET", "/Users")).json()
    assert [shown["id"] for shown in left["Resources"]] == [user]
    assert left["Resources"][0]["active"] is True
    assert (await provider.call("GET", "/Groups")).json()["totalResults"] == 0


# Who may.


async def test_only_a_provisioner_and_an_admin_provision_and_only_their_tenant(
    gateway: Gateway, provider: Provider, admin: Caller, ana: Caller
) -> None:
    user = await provider.user("ben")
    body = {"userName": "eve"}
    stranger = Provider(
        await gateway.caller("idp", tenant=await gateway.new_tenant(), roles=["provisioner"])
    )

    refusal(await Provider(gateway.stranger).call("GET", "/Users"), 401)
    refusal(await Provider(ana).call("POST", "/Users", json=body), 403)
    refusal(await Provider(gateway.operator).call("GET", "/Users"), 403)
    for method, path in (("GET", "/Users/{}"), ("DELETE", "/Users/{}"), ("PUT", "/Users/{}")):
        gone = await stranger.call(
            method, path.format(user), json=body if method == "PUT" else None
        )
        refusal(gone, 404)
    named = await stranger.call(
        "POST", "/Groups", json={"displayName": "x", "members": [{"value": user}]}
    )
    refusal(named, 400, "invalidValue")
    assert (await Provider(admin).call("GET", f"/Users/{user}")).status_code == 200
    for path in ("/v1/search", "/v1/keys"):
        problem(await provider.caller.call("POST", path, json={"query": "x"}), 403)


async def test_discovery_describes_what_is_served(provider: Provider) -> None:
    config = (await provider.call("GET", "/ServiceProviderConfig")).json()
    types = (await provider.call("GET", "/ResourceTypes")).json()["Resources"]
    schemas = (await provider.call("GET", "/Schemas")).json()["Resources"]

    assert config["patch"]["supported"]
    assert config["filter"] == {"supported": True, "maxResults": 100}
    for resource_type in types:
        assert (await provider.call("GET", resource_type["endpoint"])).status_code == 200
        schema = await provider.call("GET", f"/Schemas/{resource_type['schema']}")
        assert schema.json() in schemas
    user = await provider.user("ben")
    shown = set((await provider.call("GET", f"/Users/{user}")).json())
    described = {attribute["name"] for attribute in schemas[0]["attributes"]}
    assert shown - {"id", "meta", "schemas"} == described


# Races.


async def test_no_token_made_during_a_deactivation_ever_works(
    gateway: Gateway, provider: Provider
) -> None:
    user = await provider.user("ben")
    for _ in range(3):
        ben = await gateway.caller("ben")
        made = [asyncio.create_task(ben.call("POST", "/v1/tokens", json={})) for _ in range(8)]
        await provider.patch(f"/Users/{user}", DEACTIVATIONS["okta"])
        tokens = [
            answer.json()["token"] for answer in await asyncio.gather(*made) if answer.is_success
        ]
        await provider.patch(f"/Users/{user}", {"op": "replace", "value": {"active": True}})

        for token in tokens:
            problem(await Caller(gateway.client, token).call("GET", "/v1/caller"), 401)


def test_a_body_names_all_members_of_the_largest_group() -> None:
    named = {"display": "ana", "type": "User", "$ref": "https://x/scim/v2/Users/17"}
    members = [{"value": f"user-{number}", **named} for number in range(MEMBERS_MAX)]

    body = schemas.parse(GroupBody, orjson.dumps({"displayName": "all", "members": members}))

    assert body.members is not None
    assert len(body.members) == MEMBERS_MAX
