"""Facets over HTTP and MCP: what a caller is told of the documents that it may read."""

from typing import Any

import orjson
import pytest

from gateway.extensions._mcp import results
from tests.gateway.support.gateways import Caller, Gateway, problem

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

LEAVE = "Everybody gets 25 days of annual leave a year."


async def counts(caller: Caller, *fields: str, **more: Any) -> dict[str, Any]:
    answer = await caller.search("annual leave", facets=fields, **more)
    assert answer.status_code == 200, answer.text
    facets: dict[str, Any] = answer.json()["facets"]
    return facets


async def test_facets_count_the_documents_that_the_caller_may_read(
    ana: Caller, ben: Caller
) -> None:
    await ana.put("a", LEAVE, source="wiki", tags=["x", "y"], metadata={"office": "Porto"})
    await ana.put("b", "The lighthouse is red.", source="wiki", readers=["tenant"])

    seen = await counts(ana, "source", "tags", "metadata.office", facet_values_max=1)
    seen_by_ben = await counts(ben, "metadata.office", "source")
    narrowed = await counts(ana, "source", filter={"tags_any": ["y"]})

    assert seen == {
        "documents": 2,
        "fields": {
            "metadata.office": {
                "values": [{"value": "Porto", "count": 1}],
                "other_values": 0,
                "other_count": 0,
            },
            "source": {
                "values": [{"value": "wiki", "count": 2}],
                "other_values": 0,
                "other_count": 0,
            },
            "tags": {
                "values": [{"value": "x", "count": 1}],
                "other_values": 1,
                "other_count": 1,
            },
        },
    }
    assert seen_by_ben["documents"] == 1
    assert seen_by_ben["fields"]["metadata.office"]["values"] == []
    assert narrowed["documents"] == 1


async def test_a_cached_answer_with_counts_ends_when_a_document_far_from_the_question_changes(
    gateway: Gateway, other_worker: Gateway, ana: Caller
) -> None:
    await ana.put("leave", LEAVE, source="wiki")
    await ana.put("far", "The lighthouse is red.", source="mail", tags=["x"])
    question = {"alpha": 0.0, "facets": ["source", "tags"]}

    async def documents() -> tuple[int, list[int]]:
        fresh = await other_worker.as_(ana).search("annual leave", **question)
        cached = await ana.search("annual leave", **question)
        assert fresh.content == cached.content
        facets = cached.json()["facets"]
        tags = facets["fields"]["tags"]["values"]
        return facets["documents"], [tag["count"] for tag in tags]

    assert await documents() == (2, [1])
    await ana.put("far", "The lighthouse is red.", source="mail", tags=[])
    assert await documents() == (2, [])
    await ana.put("farther", "The harbour is blue.", tags=["x", "y"])
    assert await documents() == (3, [1, 1])
    await ana.call("DELETE", "/v1/documents/farther")
    assert await documents() == (2, [])


async def test_equal_facets_in_another_order_share_an_answer(gateway: Gateway, ana: Caller) -> None:
    await ana.put("leave", LEAVE)

    await counts(ana, "source", "tags")
    await counts(ana, "tags", "source", "source")

    assert await gateway.fills() == 1


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"facets": ["owner"]}, "facets.0"),
        ({"facets": ["metadata."]}, "facets.0"),
        ({"facets": ["metadata.a\nb"]}, "facets.0"),
        ({"facets": ["metadata." + "k" * 129]}, "facets.0"),
        ({"facets": [f"metadata.{number}" for number in range(9)]}, "facets"),
        ({"facets": ["tags"], "facet_values_max": 101}, "facet_values_max"),
        ({"facets": ["tags"], "facet_values_max": 0}, "facet_values_max"),
    ],
)
async def test_facets_beyond_their_limits_are_refused_by_name(
    ana: Caller, fields: dict[str, Any], name: str
) -> None:
    answer = await ana.call("POST", "/v1/search", json={"query": "annual leave", **fields})

    assert problem(answer, 422)["errors"][0]["field"] == name


def test_facets_of_a_tool_take_at_most_half_of_its_budget_and_still_add_up() -> None:
    values = [{"value": f"value {number}" * 9, "count": 2} for number in range(100)]
    facet = {"values": values, "other_values": 3, "other_count": 4}
    answer = {"hits": [], "facets": {"documents": 200, "fields": {"tags": facet}}}

    result = results.search(answer, tenant="acme", tokens_max=500)

    assert len(result) <= 500 * results.BYTES_PER_TOKEN
    fitted = orjson.loads(result)["facets"]["fields"]["tags"]
    assert 0 < len(fitted["values"]) < 100
    assert len(fitted["values"]) + fitted["other_values"] == 103
    assert 2 * len(fitted["values"]) + fitted["other_count"] == 204
