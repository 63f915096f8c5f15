"""Relations: how documents name others, and how a search follows them."""

from typing import Any

import pytest

from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio

LEAVE = "Everybody has 25 days of annual leave."
OTHER = "The lighthouse is red."


async def related(caller: Caller, **fields: Any) -> list[tuple[str, str, str]]:
    """What the best hit for the leave is related to."""
    answer = await caller.search("annual leave", top_k=1, expand="relations", **fields)
    (hit,) = answer.json()["hits"]
    return [(one["relation"], one["direction"], one["document_id"]) for one in hit["relations"]]


async def test_relations_are_stored_with_the_metadata_and_shown_again(ana: Caller) -> None:
    await ana.put(
        "new",
        LEAVE,
        metadata={"team": "people"},
        relates_to={"replaces": "old", "follows": ["one", "two", "one"]},
    )

    shown = (await ana.call("GET", "/v1/documents/new")).json()
    body = {name: shown[name] for name in ("text", "metadata", "relates_to")}
    again = await ana.call("PUT", "/v1/documents/new", json=body)

    relations = {"replaces": ["old"], "follows": ["one", "two"]}
    assert shown["relates_to"] == relations
    assert shown["metadata"] == {"team": "people", **relations}
    assert again.status_code == 200, again.text
    assert (await ana.call("GET", "/v1/documents/new")).json() == shown
    await ana.put("plain", OTHER)
    assert "relates_to" not in (await ana.call("GET", "/v1/documents/plain")).json()


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"relates_to": {"likes": "x"}}, "relates_to.likes"),
        ({"relates_to": {"follows": []}}, "relates_to.follows"),
        ({"relates_to": {"follows": [1]}}, "relates_to.follows"),
        ({"relates_to": {"follows": ["x"] * 65}}, "relates_to.follows"),
        ({"relates_to": {"causes": "x"}, "metadata": {"causes": ["x", "y"]}}, "relates_to"),
    ],
)
async def test_a_relation_that_cannot_be_is_refused(
    ana: Caller, fields: dict[str, Any], name: str
) -> None:
    refused = await ana.call("PUT", "/v1/documents/x", json={"text": LEAVE, **fields})

    assert any(error["field"].startswith(name) for error in problem(refused, 422)["errors"]), (
        refused.text
    )


async def test_a_search_follows_one_step_to_what_each_caller_may_see_as_it_changes(
    gateway: Gateway, other_worker: Gateway, ana: Caller, ben: Caller
) -> None:
    await ana.put("leave", LEAVE, readers=["tenant"], relates_to={"follows": "before"})

    async def check(*expected: tuple[str, str, str], bens: int | None = None) -> None:
        for caller, seen in ((ana, expected), (ben, expected[: bens or len(expected)])):
            for each in (caller, other_worker.as_(caller), caller):
                assert await related(each) == list(seen)

    await check()
    await ana.put("before", OTHER, readers=["tenant"])
    before = ("follows", "outgoing", "before")
    await check(before)
    await ana.put("after", OTHER, readers=["user:ana"], relates_to={"replaces": "leave"})
    after = ("replaces", "incoming", "after")
    await check(before, after, bens=1)
    await ana.share("after", "user:ana", "user:ben")
    await check(before, after)
    await ana.share("after")
    await check(before, after, bens=1)
    await ana.put("far", OTHER, readers=["tenant"], relates_to={"part_of": "before"})
    await check(before, after, bens=1)
    await ana.share("before")
    assert await related(ana) == [before, after]
    assert await related(ben) == await related(other_worker.as_(ben)) == []
    await ana.call("DELETE", "/v1/documents/before")
    assert await related(ana) == [after]
    assert await related(ben) == []


async def test_a_related_document_must_pass_the_filter(ana: Caller) -> None:
    await ana.put("leave", LEAVE, source="wiki", relates_to={"follows": ["wiki", "mail"]})
    await ana.put("wiki", OTHER, source="wiki", title="A page", uri="https://wiki/1")
    await ana.put("mail", OTHER, source="mail")

    assert len(await related(ana)) == 2
    answer = await ana.search(
        "annual leave", filter={"sources": ["wiki"]}, expand=["relations", "neighbours"], top_k=1
    )

    assert answer.json()["hits"][0]["relations"] == [
        {
            "relation": "follows",
            "direction": "outgoing",
            "document_id": "wiki",
            "title": "A page",
            "source": "wiki",
            "uri": "https://wiki/1",
            "language": "en",
        }
    ]


async def test_expand_means_neighbours_as_before_and_refuses_other_names(
    gateway: Gateway, ana: Caller
) -> None:
    await ana.put("leave", LEAVE)

    bodies = [
        (await ana.search("annual leave", expand=expand)).content
        for expand in (True, "neighbours", ["neighbours"])
    ]

    assert len(set(bodies)) == 1
    assert await gateway.fills() == 1
    for wrong in ("all", [], ["relations", "x"]):
        body = {"query": "leave", "expand": wrong}
        problem(await ana.call("POST", "/v1/search", json=body), 422)


async def test_another_tenants_public_documents_are_related_among_themselves(
    gateway: Gateway,
) -> None:
    press = await gateway.caller(
        "press", tenant=await gateway.new_tenant(), roles=["writer", "publisher"]
    )
    await gateway.receive_public()
    ana = await gateway.caller("ana")
    keepers = "Annual leave of lighthouse keepers"  # other tests have public documents too
    await press.put("leave", keepers, readers=["public"], relates_to={"causes": ["joy", "secret"]})
    await press.put("joy", OTHER, readers=["public"])
    await press.put("secret", OTHER)
    await ana.put("joy", OTHER)
    await ana.put("mine", OTHER, relates_to={"follows": "leave"})

    (hit,) = (await ana.search(keepers, top_k=1, expand="relations")).json()["hits"]

    (found,) = hit["relations"]
    assert (found["document_id"], found["tenant"]) == ("joy", hit["tenant"])
