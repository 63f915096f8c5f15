"""Searching as somebody else: the answer is theirs, only admins may, and the audit log knows."""

from typing import Any

import pytest

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, Gateway, problem, running

pytestmark = pytest.mark.anyio

QUESTION = "annual leave"


async def search_as(admin: Caller, **fields: Any) -> list[str]:
    """The documents of the hits, best first."""
    answer = await admin.call(
        "POST", "/v1/search/as", json={"search": {"query": QUESTION}, **fields}
    )
    assert answer.status_code == 200, answer.text
    return [hit["document_id"] for hit in answer.json()["hits"]]


async def write_all(ana: Caller) -> None:
    await ana.put("own", "Annual leave of Ana.")
    await ana.put("sales", "Annual leave in sales.", readers=["group:sales"])
    await ana.put("eve", "Annual leave of Eve.", readers=["user:eve"])
    await ana.put("all", "Annual leave of everybody.", readers=["tenant"])


async def rows_of(admin: Caller) -> list[dict[str, Any]]:
    rows = (await admin.call("GET", "/v1/audit/log")).json()["rows"]
    return [row for row in rows if row["action"] == "search.as"]


@pytest.mark.sampled("ben", "eve")
@pytest.mark.parametrize("subject", ["ana", "ben", "eve", "nobody"])
async def test_the_hits_are_those_of_the_subject(
    gateway: Gateway, ana: Caller, admin: Caller, subject: str
) -> None:
    await write_all(ana)
    await admin.call("PUT", "/v1/groups/sales/members/ben")
    themselves = await gateway.caller(subject)

    seen = await search_as(admin, subject=subject)

    assert seen == await themselves.found(QUESTION)
    assert ("own" in seen) == (subject == "ana")


async def test_a_group_alone_sees_what_it_shares_and_nobodys_own(
    ana: Caller, admin: Caller
) -> None:
    await write_all(ana)

    assert set(await search_as(admin, groups=["sales"])) == {"sales", "all"}
    assert set(await search_as(admin, subject="eve", groups=["sales"])) == {"sales", "eve", "all"}


async def test_a_membership_that_ended_shows_nothing_from_the_cache(
    ana: Caller, admin: Caller
) -> None:
    await write_all(ana)
    await admin.call("PUT", "/v1/groups/sales/members/ben")
    assert "sales" in await search_as(admin, subject="ben")

    await admin.call("DELETE", "/v1/groups/sales/members/ben")

    assert "sales" not in await search_as(admin, subject="ben")


async def test_another_tenants_documents_stay_unseen(gateway: Gateway, ana: Caller) -> None:
    await write_all(ana)
    other = await gateway.new_tenant()
    admin = await gateway.caller("ada", tenant=other, roles=["admin"])

    assert await search_as(admin, subject="ana", groups=["sales"]) == []


@pytest.mark.parametrize("roles", [["reader"], ["writer"], ["reader", "writer"]])
async def test_nobody_but_an_admin_may(gateway: Gateway, ana: Caller, roles: list[str]) -> None:
    await write_all(ana)
    mallory = await gateway.caller("mallory", roles=roles)
    body = {"subject": "ana", "search": {"query": QUESTION}}

    problem(await mallory.call("POST", "/v1/search/as", json=body), 403)
    problem(await gateway.operator.call("POST", "/v1/search/as", json=body), 403)
    problem(await gateway.stranger.call("POST", "/v1/search/as", json=body), 401)


async def test_a_token_of_an_admin_may_not(ana: Caller, admin: Caller) -> None:
    await write_all(ana)
    made = await admin.call("POST", "/v1/tokens", json={"scopes": ["public"]})
    token = Caller(admin.client, made.json()["token"])
    body = {"subject": "ana", "search": {"query": QUESTION}}

    refused = problem(await token.call("POST", "/v1/search/as", json=body), 403)

    assert "token" in refused["detail"]
    assert await rows_of(admin) == []


@pytest.mark.thorough
async def test_every_look_is_in_the_audit_log_with_what_it_showed(
    ana: Caller, admin: Caller
) -> None:
    await write_all(ana)

    for _ in range(2):  # the second answer comes from the cache
        await search_as(admin, subject="ana", groups=["sales"])

    rows = await rows_of(admin)
    assert len(rows) == 2
    for row in rows:
        assert (row["subject"], row["target"]) == ("ada", "ana")
        assert row["details"] == {"groups": ["sales"], "documents": ["all", "eve", "own", "sales"]}


async def test_a_look_that_shows_nothing_is_logged_too(admin: Caller) -> None:
    await search_as(admin, subject="nobody")

    (row,) = await rows_of(admin)
    assert row["details"]["documents"] == []


@pytest.mark.isolated
async def test_without_an_audit_log_nobody_may(settings: Settings, embedder: Embedder) -> None:
    unlogged = settings.model_copy(update={"audit_log": "off"})

    async with running(unlogged, embedder) as gateway:
        await gateway.tenant("acme")
        admin = await gateway.caller("ada", roles=["admin"])
        body = {"subject": "ana", "search": {"query": QUESTION}}
        refused = problem(await admin.call("POST", "/v1/search/as", json=body), 501)

    assert "NEARHIT_AUDIT_LOG" in refused["detail"]


@pytest.mark.parametrize(
    "body",
    [
        {"search": {"query": QUESTION}},
        {"subject": "ana"},
        {"subject": "", "search": {"query": QUESTION}},
        {"subject": "a b", "search": {"query": QUESTION}},
        {"subject": "ana", "search": {"query": ""}},
        {"subject": "ana", "search": {"query": "a" * 20_000}},
        {"subject": "ana", "search": {"query": QUESTION, "top_k": 10_000}},
        {"subject": "ana", "search": {"query": QUESTION, "history": []}},
        {"subject": "ana", "search": {"query": QUESTION, "gate": "x"}},
        {"subject": "ana", "tenant": "other", "search": {"query": QUESTION}},
        {"groups": ["g"] * 257, "search": {"query": QUESTION}},
    ],
)
async def test_what_is_no_search_as_somebody_is_refused(
    admin: Caller, body: dict[str, Any]
) -> None:
    problem(await admin.call("POST", "/v1/search/as", json=body), 422)

    assert await rows_of(admin) == []


async def test_the_admins_own_reads_are_not_taken_for_the_subjects(
    ana: Caller, admin: Caller
) -> None:
    await write_all(ana)

    await search_as(admin, subject="ana")

    rows = (await admin.call("GET", "/v1/audit/log?subject=ana")).json()["rows"]
    assert {row["action"] for row in rows} == {"documents.write"}
