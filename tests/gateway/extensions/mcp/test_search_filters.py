"""A search by the tool is narrowed by all that its facets count, and by times."""

from typing import Any

import pytest

from tests.gateway.extensions.mcp.test_mcp import connected
from tests.gateway.support.gateways import Caller

pytestmark = pytest.mark.anyio

FACETS = ["source", "language", "tags", "metadata.team", "metadata.year", "metadata.draft"]
ARGUMENTS = {"source": "sources", "language": "languages", "tags": "tags"}


@pytest.fixture
async def reader(ana: Caller) -> Caller:
    await ana.put(
        "old",
        "Everybody gets 25 days of annual leave.",
        source="wiki",
        tags=["people", "leave"],
        metadata={"team": ["red", "blue"], "year": 2023, "valid_to": "2024-06-30"},
    )
    await ana.put(
        "new",
        "Everybody gets 30 days of annual leave.",
        source="mail",
        tags=["people"],
        metadata={"team": "red", "year": 2024, "draft": True, "valid_from": "2024-07-01"},
    )
    await ana.put(
        "urlaub",
        "Alle haben im Jahr 30 Tage Urlaub, auch die Leute im Lager. Annual leave.",
        source="wiki",
        language="de",
        metadata={"year": "2024"},
    )
    return ana


async def found(reader: Caller, **arguments: Any) -> dict[str, Any]:
    async with connected(reader) as client:
        result = await client.call_tool("search", {"query": "annual leave", **arguments})
    assert not result.is_error, result.content
    content: dict[str, Any] = result.structured_content
    return content


async def names(reader: Caller, **arguments: Any) -> set[str]:
    return {hit["id"] for hit in (await found(reader, **arguments))["results"]}


@pytest.mark.thorough
async def test_each_value_of_a_facet_is_a_filter_for_as_many_documents(reader: Caller) -> None:
    counted = (await found(reader, facets=FACETS))["facets"]["fields"]
    assert all(counted[field]["values"] for field in FACETS)

    for field, facet in counted.items():
        for value in facet["values"]:
            if field in ARGUMENTS:
                narrowed = await names(reader, **{ARGUMENTS[field]: value["value"]})
            else:
                key = field.removeprefix("metadata.")
                narrowed = await names(reader, metadata={key: value["value"]})
            at_least = value["count"]  # a number and its text are one value to a filter
            assert len(narrowed) == at_least or (field == "metadata.year" and len(narrowed) == 2)


NARROWED: list[tuple[dict[str, Any], set[str]]] = [
    ({"tags": ["leave"]}, {"old"}),
    ({"tags": ["leave", "people"]}, {"old", "new"}),
    ({"languages": "de"}, {"urlaub"}),
    ({"metadata": {"team": "blue"}}, {"old"}),
    ({"metadata": {"team": ["blue", "green"]}}, {"old"}),
    ({"metadata": {"team": "red", "year": 2024}}, {"new"}),
    ({"metadata": {"year": "2023"}}, {"old"}),
    ({"metadata": {"draft": "true"}}, {"new"}),
    ({"metadata": {"team": None}}, {"old", "new", "urlaub"}),
    ({"metadata": {"team": "green"}}, set()),
    ({"as_of": "2024-06-30"}, {"old", "urlaub"}),
    ({"as_of": "2024-07-01T12:00:00Z"}, {"new", "urlaub"}),
    ({"as_of": "2024-07-01T12:00:00"}, {"new", "urlaub"}),
    ({"updated_after": "2020-01-01"}, {"old", "new", "urlaub"}),
    ({"updated_after": "2020-01-01T10:00:00+02:00", "updated_before": "2020-01-02"}, set()),
    ({"updated_before": "2999-01-01T00:00"}, {"old", "new", "urlaub"}),
]


@pytest.mark.thorough
async def test_a_filter_leaves_the_documents_that_meet_it(reader: Caller) -> None:
    for arguments, expected in NARROWED:
        assert await names(reader, **arguments) == expected, arguments
