"""`POST /v1/search/why-not`: each reason, and the change that it names, which then is tried."""

from typing import Any

import orjson
import pytest

from tests.gateway.extensions.why_not.explained import found_after, why_not
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = pytest.mark.anyio

LEAVE = "# Leave\n\nEverybody has 25 days of annual leave."
SICK = "# Sick leave\n\nCall before nine if you are ill, and take leave."
TRAVEL = "# Travel\n\nBook trains with the travel desk, two weeks ahead."


async def test_a_document_in_the_answer_is_named_with_its_rank(ana: Caller) -> None:
    await ana.put("leave", LEAVE)
    await ana.put("sick", SICK)

    found = await ana.found("annual leave")
    for rank, name in enumerate(found, start=1):
        explained = await why_not(ana, name, "annual leave")
        assert (explained["in_answer"], explained["rank"]) == (True, rank)
        assert (explained["reasons"], explained["change"]) == ([], None)


async def test_an_outranked_document_comes_with_its_scores_and_the_number_of_hits(
    ana: Caller,
) -> None:
    await ana.put("leave", LEAVE)
    await ana.put("sick", SICK)
    hits = (await ana.search("annual leave", explain=True)).json()["hits"]
    assert [hit["document_id"] for hit in hits] == ["leave", "sick"]

    explained = await why_not(ana, "sick", "annual leave", top_k=1)

    assert explained["reasons"] == ["outranked"]
    assert explained["rank"] == 2
    for passage, hit in zip((explained["last"], explained["best"]), hits, strict=True):
        assert passage["chunk_id"] == hit["chunk_id"]
        assert passage["score"] == hit["score"]
        assert passage["dense"] == hit["explain"]["dense"]["score"]
        assert passage["lexical"] == hit["explain"]["lexical"]["score"]
    assert explained["change"] == {"top_k": 2}


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("sources", ["wiki"]),
        ("tags_any", ["travel"]),
        ("tags_all", ["people", "travel"]),
        ("languages", ["pt"]),
        ("updated_after", "2100-01-01T00:00:00Z"),
        ("updated_before", "2000-01-01T00:00:00Z"),
        ("exclude_documents", ["leave"]),
        ("documents", ["sick"]),
        ("metadata", {"team": "finance"}),
        ("attributes", {"type": "eq", "key": "team", "value": "finance"}),
        ("valid_on", "2020-01-01"),
        ("as_of", "2020-01-01T00:00:00Z"),
        ("kinds", ["summary"]),
    ],
)
async def test_a_condition_that_leaves_it_out_is_named_and_dropped(
    ana: Caller, condition: str, value: Any
) -> None:
    metadata = {"team": "people", "valid_from": "2025-01-01"}
    await ana.put("leave", LEAVE, tags=["people"], metadata=metadata, language="en")
    narrowed = {"filter": {condition: value}}

    explained = await why_not(ana, "leave", "annual leave", **narrowed)

    assert explained["reasons"] == ["filter"]
    assert explained["conditions"] == [condition]
    assert explained["change"] == {"filter": {condition: None}}
    assert await ana.found("annual leave", **narrowed) == []
    assert await found_after(ana, explained["change"], "annual leave", **narrowed) == ["leave"]


async def test_all_conditions_that_leave_it_out_are_named_and_no_others(ana: Caller) -> None:
    await ana.put("leave", LEAVE, tags=["people"], source="wiki")
    narrowed = {
        "filter": {"sources": ["wiki"], "tags_any": ["travel"], "languages": ["pt"]},
    }

    explained = await why_not(ana, "leave", "annual leave", **narrowed)

    assert explained["conditions"] == ["tags_any", "languages"]
    assert await found_after(ana, explained["change"], "annual leave", **narrowed) == ["leave"]


async def test_a_scope_that_is_not_searched_is_named(ana: Caller, gateway: Gateway) -> None:
    bo = await gateway.caller("bo")
    await ana.put("leave", LEAVE, readers=["tenant"])

    explained = await why_not(bo, "leave", "annual leave", scopes=["private"])

    assert explained["reasons"] == ["scopes"]
    assert explained["scopes"] == ["tenant"]
    assert await found_after(bo, explained["change"], "annual leave", scopes=["private"]) == [
        "leave"
    ]


async def test_a_threshold_is_named_with_the_one_that_it_would_pass(ana: Caller) -> None:
    await ana.put("leave", LEAVE)
    await ana.put("sick", SICK)

    explained = await why_not(ana, "sick", "annual leave", min_score=0.99, top_k=1)

    assert explained["reasons"] == ["min_score", "outranked"]
    assert explained["change"] == {"min_score": explained["best"]["score"], "top_k": 2}
    assert explained["last"] is None  # nothing reaches the threshold
    after = await found_after(ana, explained["change"], "annual leave", min_score=0.99, top_k=1)
    assert after == ["leave", "sick"]


async def test_a_boost_that_puts_others_before_it_is_named(ana: Caller) -> None:
    await ana.put("leave", LEAVE)
    await ana.put("sick", SICK, metadata={"weight": 1})
    boost = {"importance": {"key": "weight", "full": 1, "weight": 5}}

    explained = await why_not(ana, "leave", "annual leave", top_k=1, boost=boost)

    assert explained["reasons"] == ["boost"]
    assert explained["last"]["document_id"] == "sick"
    assert (explained["last"]["boost"], explained["best"]["boost"]) == (5, 0)
    assert explained["change"] == {"top_k": 2}


async def test_diversity_that_puts_others_before_it_is_named(ana: Caller) -> None:
    await ana.put("leave", LEAVE)
    await ana.put("again", f"{LEAVE} A year.")
    await ana.put("sick", SICK)
    assert {*await ana.found("days of annual leave", top_k=2)} == {"leave", "again"}
    diverse = {"top_k": 2, "diversity": 0.9}
    missed = ({"leave", "again"} - {*await ana.found("days of annual leave", **diverse)}).pop()

    explained = await why_not(ana, missed, "days of annual leave", **diverse)

    assert explained["reasons"] == ["diversity"]
    assert missed in await found_after(ana, explained["change"], "days of annual leave", **diverse)


async def test_a_duplicate_names_the_passage_that_is_in_the_answer(ana: Caller) -> None:
    await ana.put("leave", LEAVE)
    await ana.put("copy", LEAVE)
    (hit,) = (await ana.search("annual leave")).json()["hits"]
    missed = "copy" if hit["document_id"] == "leave" else "leave"

    explained = await why_not(ana, missed, "annual leave")

    assert explained["reasons"] == ["duplicate"]
    assert explained["duplicate_of"]["chunk_id"] == hit["chunk_id"]
    assert explained["change"] == {"filter": {"documents": [missed]}}


async def test_a_document_that_has_nothing_of_the_query_is_unrelated(ana: Caller) -> None:
    await ana.put("leave", LEAVE)
    await ana.put("travel", TRAVEL)

    explained = await why_not(ana, "travel", "annual leave", alpha=0)

    assert explained["reasons"] == ["unrelated"]
    assert (explained["best"], explained["rank"], explained["change"]) == (None, None, None)


async def test_a_reranker_that_puts_it_behind_is_named(ana: Caller) -> None:
    for number in range(4):
        await ana.put(f"leave{number}", f"{LEAVE} {'Ask your lead. ' * number}")
    reranked = {"top_k": 1, "rerank": "words"}
    shown = await ana.found("annual leave", **reranked)
    ((missed, *_),) = [[name for name in await ana.found("annual leave") if name not in shown]]

    explained = await why_not(ana, missed, "annual leave", **reranked)
    there = await why_not(ana, shown[0], "annual leave", **reranked)

    assert (there["in_answer"], there["rank"]) == (True, 1)
    assert explained["reasons"] == ["reranked"]
    assert missed in await found_after(ana, explained["change"], "annual leave", **reranked)


async def test_a_document_beyond_the_first_hundred_has_scores_and_no_rank(ana: Caller) -> None:
    documents = [
        {"document_id": f"d{number:03}", "text": f"{LEAVE} Case {number}."} for number in range(250)
    ]
    lines = b"\n".join(orjson.dumps(each) for each in documents)
    answer = await ana.call("POST", "/v1/documents/batch", content=lines)
    assert answer.status_code == 200, answer.text
    await ana.put("travel", f"{TRAVEL} Take leave.")

    explained = await why_not(ana, "travel", "annual leave")

    assert explained["reasons"] == ["outranked"]
    assert explained["rank"] is None
    assert explained["change"] == {"filter": {"documents": ["travel"]}}
    (hit,) = (
        await ana.search("annual leave", filter={"documents": ["travel"]}, explain=True)
    ).json()["hits"]
    assert explained["best"]["score"] == hit["score"]
    assert explained["best"]["score"] < explained["last"]["score"]


async def test_an_inactive_document_is_named_to_its_owner_alone(
    ana: Caller, gateway: Gateway
) -> None:
    bo = await gateway.caller("bo")
    await ana.put("leave", LEAVE, readers=["tenant"])
    await ana.call("PATCH", "/v1/documents/leave/access", json={"active": False})

    assert (await why_not(ana, "leave", "annual leave"))["reasons"] == ["inactive"]
    assert (await why_not(bo, "leave", "annual leave"))["reasons"] == ["not_found"]


async def test_a_public_document_of_another_tenant_is_explained_by_its_tenant(
    gateway: Gateway,
) -> None:
    other = await gateway.with_new_tenant()
    await gateway.receive_public()
    await gateway.receive_public(other.tenant_name)
    publisher = await other.caller("pia", roles=["reader", "writer", "publisher"])
    name = f"leave of {other.tenant_name}"  # no other test publishes a document of this name
    await publisher.put(name, LEAVE, readers=["public"], source="wiki")
    ana = await gateway.caller("ana")
    narrowed = {"filter": {"sources": ["desk"], "documents": [name]}}

    explained = await why_not(ana, name, "annual leave", tenant=other.tenant_name, **narrowed)
    own = await why_not(ana, name, "annual leave", **narrowed)

    assert explained["conditions"] == ["sources"]
    assert await found_after(ana, explained["change"], "annual leave", **narrowed) == [name]
    assert own["reasons"] == ["not_found"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"query": ""},
        {"query": "x" * 2_001},
        {"top_k": 0},
        {"top_k": 101},
        {"unknown": 1},
        {"filter": {"unknown": 1}},
        {"min_score": -1},
        {"consistency": "strong", "max_staleness_ms": 5},
        {"scopes": ["public"]},
        {"vector": [1.0]},
    ],
)
async def test_what_is_no_search_is_refused_as_a_search_is(
    ana: Caller, wrong: dict[str, Any]
) -> None:
    await ana.put("leave", LEAVE)
    search = {"query": "annual leave", **wrong}

    refused = await ana.call("POST", "/v1/search", json=search)
    answer = await ana.call("POST", "/v1/search/why-not", json={**search, "document_id": "leave"})

    problem(refused, 422)
    assert problem(answer, 422) == problem(refused, 422)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "document_id"),
        ({"document_id": ""}, "document_id"),
        ({"document_id": "x" * 513}, "document_id"),
        ({"document_id": "x", "tenant": "No"}, "tenant"),
        ({"document_id": "x", "history": []}, "history"),
        ({"document_id": "x", "gate": "support"}, "gate"),
    ],
)
async def test_what_names_no_document_or_is_a_conversation_is_refused(
    ana: Caller, fields: dict[str, Any], field: str
) -> None:
    answer = await ana.call("POST", "/v1/search/why-not", json={"query": "leave", **fields})

    assert problem(answer, 422)["errors"][0]["field"] == field
