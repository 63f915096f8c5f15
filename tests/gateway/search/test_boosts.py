"""Boosts and diversity over HTTP and MCP: newer and more important documents come first."""

from typing import Any

import pytest

from gateway.bodies.schemas import parse
from gateway.extensions._mcp.search_arguments import SearchArguments
from gateway.search.schemas.search_schemas import SearchBody
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

NEWEST = {"recency": {"half_life_days": 0.01, "weight": 10}}
LEAVE = "Everybody gets annual leave."
OTHER = "Everybody gets annual leave!"  # as good by words


async def first(caller: Caller, **fields: Any) -> str:
    (hit,) = (await caller.search("annual leave", top_k=1, alpha=0.0, **fields)).json()["hits"]
    name: str = hit["document_id"]
    return name


async def test_what_changed_last_comes_first_from_every_tier(
    gateway: Gateway, other_worker: Gateway, ana: Caller
) -> None:
    await ana.put("leave", LEAVE)
    await ana.put("travel", OTHER)

    async def newest() -> str:
        answers = [await first(each, boost=NEWEST) for each in (ana, other_worker.as_(ana), ana)]
        assert len(set(answers)) == 1
        return answers[0]

    assert await first(ana) == "leave"
    assert await newest() == "travel"
    # The text's only chunk stays as it is; the document's time does not.
    await ana.put("leave", f"\n\n{LEAVE}")
    assert await newest() == "leave"


async def test_the_priority_of_a_faq_is_its_importance_if_a_search_asks_for_it(
    ana: Caller, admin: Caller
) -> None:
    for number, priority in enumerate([1, 1_000, -5]):
        faq = {"question": "How long is the leave?", "priority": priority, "readers": ["tenant"]}
        answer = f"{number} days of leave a year."
        written = await admin.call("PUT", f"/v1/faqs/{number}", json={**faq, "answer": answer})
        assert written.status_code < 300, written.text

    async def found(weight: float) -> list[int]:
        boost = {"importance": {"full": 1_000, "weight": weight}}
        answer = await ana.search("How long is the leave?", metadata=True, boost=boost)
        return [hit["metadata"]["priority"] for hit in answer.json()["hits"]]

    assert (await found(10))[0] == 1_000
    assert (await found(10))[-1] == -5


async def test_what_a_document_replaces_comes_after_it_for_those_who_see_the_document(
    gateway: Gateway, other_worker: Gateway, ana: Caller, ben: Caller
) -> None:
    await ana.put("policy-2024", LEAVE, readers=["tenant"])
    await ana.put("policy-2025", OTHER, readers=["tenant"])
    boost = {"replaced": {"weight": 0.5}}

    async def found(caller: Caller) -> str:
        names = [await first(each, boost=boost) for each in (caller, other_worker.as_(caller))]
        assert names[0] == names[1]
        return names[0]

    assert await found(ana) == await found(ben) == "policy-2024"
    note = {"readers": ["user:ana"], "metadata": {"replaces": ["policy-2024", "policy-2023"]}}
    await ana.put("note", "The lighthouse is red.", **note)
    assert await found(ana) == "policy-2025"
    assert await found(ben) == "policy-2024"
    await ana.put("note", "The lighthouse is red.", **note | {"metadata": {"replaces": "note"}})
    assert await found(ana) == "policy-2024"
    await ana.put("policy-2025", OTHER, readers=["tenant"], metadata={"replaces": "policy-2024"})
    assert await found(ben) == "policy-2025"
    explained = await ben.search("annual leave", boost=boost, explain=True, top_k=2, alpha=0.0)
    replaced = [hit["explain"]["boost"]["replaced"] for hit in explained.json()["hits"]]
    assert replaced == [0.0, -0.5]


async def test_a_boost_of_nothing_changes_no_byte_and_shares_the_answer(
    gateway: Gateway, ana: Caller
) -> None:
    await ana.put("leave", LEAVE)
    nothing = {"recency": {"half_life_days": 9, "weight": 0}, "importance": {"weight": 0}}
    nothing["replaced"] = {"weight": 0}

    plain = await ana.search("annual leave", explain=True)
    boosted = await ana.search("annual leave", explain=True, boost=nothing, diversity=0)

    assert plain.content == boosted.content
    assert await gateway.fills() == 1


async def test_an_explanation_tells_what_a_boost_has_added(ana: Caller) -> None:
    await ana.put("leave", LEAVE, metadata={"rank": 3})
    boost = {"importance": {"key": "rank", "full": 4, "weight": 0.4}}

    (hit,) = (await ana.search("annual leave", explain=True, boost=boost)).json()["hits"]

    assert hit["explain"]["boost"] == {
        "recency": 0.0,
        "importance": pytest.approx(0.3),
        "replaced": 0.0,
    }


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        (
            {"boost": {"recency": {"half_life_days": 0, "weight": 1}}},
            "boost.recency.half_life_days",
        ),
        ({"boost": {"recency": {"half_life_days": 1}}}, "boost.recency.weight"),
        ({"boost": {"importance": {"weight": 11}}}, "boost.importance.weight"),
        ({"boost": {"importance": {"weight": 1, "full": 0}}}, "boost.importance.full"),
        ({"boost": {"importance": {"weight": 1, "key": ""}}}, "boost.importance.key"),
        ({"boost": {"replaced": {}}}, "boost.replaced.weight"),
        ({"boost": {"age": {}}}, "boost.age"),
        ({"diversity": 1.1}, "diversity"),
        ({"diversity": -0.1}, "diversity"),
    ],
)
async def test_what_is_no_boost_is_refused_by_name(
    ana: Caller, fields: dict[str, Any], name: str
) -> None:
    answer = await ana.call("POST", "/v1/search", json={"query": "annual leave", **fields})

    assert problem(answer, 422)["errors"][0]["field"] == name


def test_a_tool_asks_for_what_an_equal_search_over_http_asks_for() -> None:
    arguments = (
        b'{"query": "leave", "facets": ["tags"], "diversity": 0.3,'
        b' "boost": {"recency": {"half_life_days": 30, "weight": 0.1}}}'
    )

    body = parse(SearchBody, parse(SearchArguments, arguments).body())

    assert body.canonical() == parse(SearchBody, arguments).canonical()
