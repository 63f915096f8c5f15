"""Tokens: what an agent is given to act for somebody, never more than that somebody may do."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.extensions.keys.key_schemas import TokenFilterBody
from index.model.query import CONDITIONS
from index.tenants.keys import ANCESTORS_MAX, TOKENS_MAX
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year."
EARLY, LATE = "2000-01-01T00:00:00Z", "2999-01-01T00:00:00Z"
MAIL = {"world"}
SEARCH = {"query": "annual leave", "top_k": 50}


async def narrowed(caller: Caller, **fields: Any) -> Caller:
    made = await made_token(caller, **fields)
    return Caller(caller.client, made["token"])


async def made_token(caller: Caller, **fields: Any) -> dict[str, Any]:
    answer = await caller.call("POST", "/v1/tokens", json=fields)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def found(caller: Caller, **fields: Any) -> set[str]:
    return set(await caller.found("annual leave", top_k=50, **fields))


async def listed(caller: Caller) -> set[str]:
    answer = await caller.call("GET", "/v1/documents")
    assert answer.status_code == 200, answer.text
    return {document["document_id"] for document in answer.json()["documents"]}


@pytest.fixture
async def ana(gateway: Gateway) -> Caller:
    """Of a tenant that receives, as a search that names `public` needs it."""
    await gateway.receive_public()
    return await gateway.caller("ana", roles=["reader", "writer", "publisher"])


@pytest.fixture
async def documents(ana: Caller, ben: Caller) -> AsyncIterator[None]:
    """Of ana's, one for each way in; ben, in sales, shares one with ana and one with sales."""
    await ana.put("own", LEAVE, source="wiki", tags=["hr"], metadata={"team": "people"})
    await ana.put("sales", LEAVE + " S.", readers=["group:sales"], source="wiki")
    await ana.put("all", LEAVE + " A.", readers=["tenant"], source="mail", tags=["hr", "old"])
    await ana.put("world", LEAVE + " W.", readers=["public"], source="mail", language="pt")
    await ben.put("for-ana", LEAVE + " B.", readers=["user:ana"], source="wiki")
    yield
    await ana.call("DELETE", "/v1/documents/world")  # the other tests' tenants would find it


@pytest.mark.thorough
@pytest.mark.usefixtures("documents")
async def test_a_token_that_says_nothing_may_do_the_same_for_an_hour(ana: Caller) -> None:
    token = await narrowed(ana)

    assert await found(token) == await found(ana)
    assert await listed(token) == await listed(ana)
    assert (await token.put("new", "x"))["document_id"] == "new"


SCOPES = [
    (["private"], {"own", "sales", "all", "world"}),
    (["shared"], {"for-ana"}),
    (["tenant"], {"all"}),
    (["public"], {"world"}),
    (["shared", "public"], {"for-ana", "world"}),
]


@pytest.mark.usefixtures("documents")
async def test_a_token_of_fewer_scopes_sees_no_others(ana: Caller) -> None:
    for scopes, seen in SCOPES:
        token = await narrowed(ana, scopes=scopes)

        assert await found(token) == await listed(token) == seen, scopes
        assert await found(token, scopes=["private", "shared", "tenant", "public"]) == seen, scopes
        for document_id in ("own", "sales", "all", "world", "for-ana"):
            answer = await token.call("GET", f"/v1/documents/{document_id}")
            assert answer.status_code == (200 if document_id in seen else 404), scopes


@pytest.mark.usefixtures("documents")
async def test_a_token_of_fewer_groups_sees_nothing_of_the_others(
    gateway: Gateway, ana: Caller
) -> None:
    member = await gateway.caller("ben", groups=["sales", "people"])
    await ana.put("people", LEAVE + " P.", readers=["group:people"])

    token = await narrowed(member, groups=["people"])
    none = await narrowed(member, groups=[])

    assert {"sales", "people"} <= await found(member)
    assert await found(token) - await found(none) == {"people"}
    assert "sales" not in await found(token)


@pytest.mark.thorough
async def test_a_group_joined_later_is_none_of_a_token_that_names_its_groups(
    gateway: Gateway, ana: Caller, admin: Caller
) -> None:
    ben = await gateway.caller("ben", groups=["people"])
    await ana.put("sales", LEAVE, readers=["group:sales"])
    token, child = await narrowed(ben, groups=["people"]), await narrowed(ben)
    grandchild = await narrowed(token)
    assert await found(child) == set()

    await admin.call("PUT", "/v1/groups/sales/members/ben")

    assert await found(ben) == await found(child) == {"sales"}
    assert await found(token) == await found(grandchild) == set()


FILTERS: list[tuple[dict[str, Any], dict[str, Any], set[str]]] = [
    ({"sources": ["wiki"]}, {}, {"own", "sales", "for-ana"}),
    ({"sources": ["wiki"]}, {"sources": ["mail", "wiki"]}, {"own", "sales", "for-ana"}),
    ({"sources": ["wiki"]}, {"sources": ["mail"]}, set()),
    ({"tags_all": ["hr"]}, {"tags_any": ["old", "new"]}, {"all"}),
    ({"tags_all": ["hr"]}, {"tags_all": ["old"]}, {"all"}),
    ({"languages": ["pt"]}, {}, {"world"}),
    (
        {"exclude_documents": ["own"]},
        {"exclude_documents": ["all"], "sources": ["mail"]},
        {"world"},
    ),
    ({"metadata": {"team": "people"}}, {}, {"own"}),
    ({"metadata": {"team": "people"}}, {"metadata": {"team": "sales"}}, set()),
    (
        {"updated_after": "2999-01-01T00:00:00Z"},
        {"updated_after": "2000-01-01T00:00:00Z"},
        set(),
    ),
    (
        {"updated_before": "2000-01-01T00:00:00Z"},
        {"updated_before": "2999-01-01T00:00:00Z"},
        set(),
    ),
]


@pytest.mark.usefixtures("documents")
async def test_a_token_with_a_filter_sees_what_meets_that_and_the_searchs_own(ana: Caller) -> None:
    for limits, asked, seen in FILTERS:
        token = await narrowed(ana, filter=limits)

        assert await found(token, filter=asked) == seen, limits
        all_seen = await found(token)
        assert await listed(token) == all_seen, limits
        for document_id in ("own", "all", "for-ana"):
            answer = await token.call("GET", f"/v1/documents/{document_id}")
            assert answer.status_code == (200 if document_id in all_seen else 404), limits
        problem(await token.call("PUT", "/v1/documents/new", json={"text": "x"}), 403)


@pytest.mark.usefixtures("documents")
async def test_a_token_and_a_wider_one_share_no_answers(ana: Caller) -> None:
    """The same words, warm caches: each sees its own."""
    tokens = [await narrowed(ana, filter={"sources": [source]}) for source in ("wiki", "mail")]

    for _ in range(2):
        assert await found(ana) == {"own", "sales", "all", "world", "for-ana"}
        assert await found(tokens[0]) == {"own", "sales", "for-ana"}
        assert await found(tokens[1]) == {"all", "world"}


def test_the_description_of_a_tokens_filter_lists_what_it_takes() -> None:
    described = TokenFilterBody.model_json_schema()["properties"]

    of_chunks = {name for name, each in CONDITIONS.items() if each.table == "chunks"}
    assert CONDITIONS.keys() - described.keys() == {"tags_any", *of_chunks}


@pytest.mark.parametrize(
    ("key", "fields", "named"),
    [
        ({"roles": ["reader"]}, {"roles": ["writer"]}, "roles"),
        ({"roles": ["reader", "writer"]}, {"roles": ["admin"]}, "roles"),
        ({"groups": ["sales"]}, {"groups": ["sales", "board"]}, "groups"),
        ({"scopes": ["tenant"]}, {"scopes": ["tenant", "private"]}, "scopes"),
        ({}, {"filter": {"tags_any": ["a"]}}, "filter"),
        ({}, {"filter": {"kinds": ["summary"]}}, "filter"),
        ({}, {"filter": {}, "roles": ["writer"]}, "roles"),
        ({}, {"read_only": True, "roles": ["reader", "writer"]}, "roles"),
        ({}, {"expires_in_s": 0}, "expires_in_s"),
        ({}, {"expires_in_s": 10**9}, "expires_in_s"),
        ({}, {"subject": "ben"}, "subject"),
        ({}, {"tenant": "beta"}, "tenant"),
    ],
)
async def test_a_token_is_never_wider_than_what_it_is_made_with(
    gateway: Gateway, key: dict[str, Any], fields: dict[str, Any], named: str
) -> None:
    eve = await gateway.caller("eve", **key)

    direct = await eve.call("POST", "/v1/tokens", json=fields)
    through_a_token = await (await narrowed(eve)).call("POST", "/v1/tokens", json=fields)

    for answer in (direct, through_a_token):
        assert problem(answer, 422)["errors"][0]["field"] == named


@pytest.mark.usefixtures("documents")
async def test_a_token_of_a_token_is_as_narrow_as_both(ana: Caller) -> None:
    first = await narrowed(ana, scopes=["private", "tenant"], filter={"sources": ["wiki", "mail"]})
    second = await narrowed(first, filter={"sources": ["mail", "chat"]})

    assert await found(second) == await listed(second) == {"all", "world"}
    problem(await second.call("POST", "/v1/tokens", json={"scopes": ["shared"]}), 422)
    problem(await first.call("POST", "/v1/tokens", json={"roles": ["writer"]}), 422)


async def test_a_read_only_token_writes_nothing(ana: Caller) -> None:
    token = await narrowed(ana, read_only=True)
    await ana.put("own", LEAVE)

    assert await found(token) == {"own"}
    problem(await token.call("PUT", "/v1/documents/own", json={"text": "x"}), 403)
    problem(await token.call("DELETE", "/v1/documents/own"), 403)


async def test_a_token_without_what_is_private_changes_nothing_of_its_subject(ana: Caller) -> None:
    token = await narrowed(ana, scopes=["tenant"])
    await ana.put("hidden", LEAVE)
    await ana.put("shown", LEAVE, readers=["tenant"])

    assert await found(token) == {"shown"}
    for name, status in (("hidden", 404), ("shown", 403)):
        path = f"/v1/documents/{name}"
        problem(await token.call("PATCH", f"{path}/access", json={"readers": []}), status)
        problem(await token.call("DELETE", path), status)


async def test_a_token_ends_no_later_than_what_it_is_made_with(gateway: Gateway) -> None:
    soon = await gateway.caller("eve", expires_at="2098-01-01T00:00:00Z")

    made = await made_token(soon, expires_in_s=60)
    child = await made_token(Caller(gateway.client, made["token"]), expires_in_s=3600)

    assert child["expires_at"] == made["expires_at"] < "2098"


@pytest.mark.slow
async def test_a_token_that_has_expired_is_no_key(ana: Caller) -> None:
    token = await narrowed(ana, expires_in_s=1)
    assert await found(token) == set()

    for _ in range(60):
        answer = await token.call("POST", "/v1/search", json=SEARCH)
        if answer.status_code == 401:
            return
        await asyncio.sleep(0.05)
    pytest.fail("it still works")


async def test_who_revokes_a_key_revokes_its_tokens_on_every_worker(
    gateway: Gateway, other_worker: Gateway
) -> None:
    answer = await gateway.operator.call(
        "POST", "/v1/keys", json={"tenant": gateway.tenant_name, "subject": "eve"}
    )
    key = answer.json()
    eve = Caller(gateway.client, key["key"])
    token = await narrowed(eve)
    grandchild = await narrowed(token, read_only=True)
    for worker in (gateway, other_worker):
        for each in (eve, token, grandchild):
            assert await found(worker.as_(each)) == set()

    await gateway.operator.call("DELETE", f"/v1/keys/{key['id']}")

    for worker in (gateway, other_worker):
        for each in (eve, token, grandchild):
            problem(await worker.as_(each).call("POST", "/v1/search", json=SEARCH), 401)


async def test_a_token_can_be_ended_by_whoever_it_came_from(ana: Caller, ben: Caller) -> None:
    made = await made_token(ana)
    token = Caller(ana.client, made["token"])
    child = await made_token(token)
    sibling = await narrowed(ana)

    problem(await ben.call("DELETE", f"/v1/tokens/{made['id']}"), 404)
    problem(await sibling.call("DELETE", f"/v1/tokens/{made['id']}"), 404)
    assert (await token.call("DELETE", f"/v1/tokens/{child['id']}")).status_code == 204
    problem(await Caller(ana.client, child["token"]).call("GET", "/v1/documents"), 401)
    assert (await ana.call("DELETE", f"/v1/tokens/{made['id']}")).status_code == 204
    problem(await token.call("GET", "/v1/documents"), 401)
    assert await found(sibling) == await found(ana) == set()


async def test_an_admins_token_makes_no_keys(admin: Caller) -> None:
    token = await narrowed(admin)

    for method, path, body in (
        ("POST", "/v1/keys", {"subject": "eve"}),
        ("POST", "/v1/keys/key_x/rotate", None),
        ("GET", "/v1/keys", None),
    ):
        problem(await token.call(method, path, json=body), 403)


@pytest.mark.thorough
@pytest.mark.slow
async def test_a_subject_has_so_many_tokens_and_a_token_so_many_ancestors(
    gateway: Gateway,
) -> None:
    ana, ben = await gateway.caller("ana"), await gateway.caller("ben")
    chain = [ana]
    for _ in range(ANCESTORS_MAX):
        chain.append(await narrowed(chain[-1]))
    too_long = problem(await chain[-1].call("POST", "/v1/tokens", json={}), 409)
    tokens = [await made_token(ana) for _ in range(TOKENS_MAX - ANCESTORS_MAX)]

    too_many = problem(await ana.call("POST", "/v1/tokens", json={}), 409)
    await made_token(ben)
    await ana.call("DELETE", f"/v1/tokens/{tokens[0]['id']}")
    await made_token(ana)

    assert "Make it with the key" in too_long["detail"]
    assert "Revoke some" in too_many["detail"]
    assert too_long["type"] == too_many["type"] == "urn:nearhit:problem:limit-reached"
