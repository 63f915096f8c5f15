"""Arguments as models and their clients write them, and what the tools take them for."""

import json
from contextlib import suppress
from typing import Any, TypeVar

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.bodies.schemas import Body
from gateway.extensions._mcp.argument_parsing import ToolArguments
from gateway.extensions._mcp.search_arguments import SearchArguments
from gateway.extensions.mcp.tools import FetchArguments, ListSourcesArguments
from gateway.extensions.plans.plan_tools import SearchPlanArguments as Plan
from gateway.problems.problems import Problem
from tests.gateway.extensions.mcp.test_mcp import LEAVE, connected, text
from tests.gateway.support.gateways import Caller

Arguments = TypeVar("Arguments", bound=Body)
STEP = {"name": "a", "query": "leave"}


def parsed(model: type[Body], arguments: dict[str, Any]) -> dict[str, Any]:
    """The fields that are set."""
    return taken(model, arguments).model_dump(mode="json", exclude_none=True)


def taken(model: type[Arguments], arguments: dict[str, Any]) -> Arguments:
    """As a tool takes them."""
    return ToolArguments(orjson.dumps(arguments)).parse(model)


@pytest.mark.parametrize(
    ("model", "arguments"),
    [
        (SearchArguments, {"query": "leave", "top_k": "9" * 30}),
        (SearchArguments, {"query": "leave", "top_k": 1e308}),
        (FetchArguments, {"id": "leave", "start": 1e30}),
    ],
)
def test_a_number_beyond_64_bits_is_refused_as_any_other(
    model: type[Body], arguments: dict[str, Any]
) -> None:
    with pytest.raises(Problem, match="invalid-field"):
        parsed(model, arguments)


@pytest.mark.parametrize("depth", [202, 300, 1_000])
def test_a_text_that_holds_json_without_a_bottom_is_refused(depth: int) -> None:
    deep = '{"a":' + "[" * depth + "]" * depth + "}"

    with pytest.raises(Problem):
        parsed(SearchArguments, {"query": "leave", "metadata": deep})


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ({"top_k": "7"}, {"top_k": 7}),
        ({"top_k": 7.0}, {"top_k": 7}),
        ({"top_k": "7.0"}, {"top_k": 7}),
        ({"top_k": "null"}, {}),
        ({"top_k": ""}, {}),
        ({"sources": "wiki"}, {"sources": ["wiki"]}),
        ({"sources": '["wiki", "mail"]'}, {"sources": ["wiki", "mail"]}),
        ({"sources": '"wiki"'}, {"sources": ["wiki"]}),
        ({"sources": "[]"}, {}),
        ({"sources": []}, {}),
        ({"sources": ["", None]}, {}),
        ({"sources": "[wiki"}, {"sources": ["[wiki"]}),
        ({"sources": "wiki, mail"}, {"sources": ["wiki", "mail"]}),
        ({"sources": "wiki,mail,"}, {"sources": ["wiki", "mail"]}),
        ({"sources": '"wiki, mail"'}, {"sources": ["wiki", "mail"]}),
        ({"sources": ["wiki, mail"]}, {"sources": ["wiki, mail"]}),
        ({"sources": '["wiki, mail"]'}, {"sources": ["wiki, mail"]}),
        ({"sources": " , "}, {}),
        ({"facets": "tags, language"}, {"facets": ["tags", "language"]}),
        ({"tags": [2024, "x"]}, {"tags": ["2024", "x"]}),
        ({"tags": 2024}, {"tags": ["2024"]}),
        ({"facets": "tags"}, {"facets": ["tags"]}),
        ({"languages": "null"}, {}),
        ({"diversity": "0.3"}, {"diversity": 0.3}),
        ({"diversity": 1}, {"diversity": 1.0}),
        ({"metadata": '{"team": "red"}'}, {"metadata": {"team": "red"}}),
        ({"boost": None}, {}),
        ({"boost": '{"replaced": {"weight": "0.5"}}'}, {"boost": {"replaced": {"weight": 0.5}}}),
        ({"boost": {"replaced": {"weight": "1"}, "recency": "null"}},
         {"boost": {"replaced": {"weight": 1.0}}}),
        ({"query": 404}, {"query": "404"}),
        ({"query": "null"}, {"query": "null"}),
        ({"query": "[1]"}, {"query": "[1]"}),
    ],
)  # fmt: skip
def test_a_search_is_taken_as_it_is_meant(sent: dict[str, Any], meant: dict[str, Any]) -> None:
    assert parsed(SearchArguments, {"query": "leave", **sent}) == {"query": "leave", **meant}


@pytest.mark.parametrize(
    ("sent", "languages"),
    [
        (["en"], ["en"]),
        ("EN", ["en"]),
        ("EN, De", ["en", "de"]),
        (["en", "EN"], ["en"]),
        ("pt-BR", ["pt-BR"]),
        ("PT-BR", ["pt-BR"]),
        ("pt_BR", ["pt-BR"]),
        ("pt-br", ["pt-br", "pt-BR"]),
        ("ZH-HANT-TW", ["zh-HANT-TW", "zh-Hant-TW"]),
        ("es-419", ["es-419"]),
        ("English", ["english"]),
    ],
)
def test_a_language_is_meant_in_any_case(sent: Any, languages: list[str]) -> None:
    arguments = {"query": "leave", "languages": sent}

    body = taken(SearchArguments, arguments).body()

    assert orjson.loads(body)["filter"] == {"languages": languages}


@pytest.mark.parametrize(
    ("model", "sent", "meant"),
    [
        (FetchArguments, {"id": 12, "start": "3"}, {"id": "12", "start": 3}),
        (FetchArguments, {"id": "a", "start": 0.0}, {"id": "a", "start": 0}),
        (FetchArguments, {"id": "a", "start": None}, {"id": "a", "start": 0}),
        (ListSourcesArguments, {"random_string": "x"}, {}),
        (Plan, {"steps": STEP}, {"steps": [STEP]}),
        (Plan, {"steps": orjson.dumps([STEP]).decode()}, {"steps": [STEP]}),
        (Plan, {"steps": [{**STEP, "top_k": "2"}]}, {"steps": [{**STEP, "top_k": 2}]}),
        (Plan, {"steps": [{**STEP, "union": []}], "strategy": ""}, {"steps": [STEP]}),
        (Plan, {"steps": [STEP], "show": "a"}, {"steps": [STEP], "show": ["a"]}),
        (Plan, {"steps": [STEP], "show": "a, b"}, {"steps": [STEP], "show": ["a", "b"]}),
        (Plan, {"strategy": "s", "steps": "null", "parameters": '{"a": 1}'},
         {"strategy": "s", "parameters": {"a": 1}}),
    ],
)  # fmt: skip
def test_so_are_the_arguments_of_the_other_tools(
    model: type[Body], sent: dict[str, Any], meant: dict[str, Any]
) -> None:
    assert parsed(model, sent) == meant


@pytest.mark.parametrize(
    "sent",
    [
        {"top_k": "five"},
        {"top_k": 5.5},
        {"top_k": True},
        {"top_k": "true"},
        {"top_k": [5]},
        {"diversity": "much"},
        {"query": None},
        {"query": True},
        {"limit": 5},
        {"boost": "newer"},
        {"metadata": "team=red"},
    ],
)
def test_what_does_not_round_trip_is_refused(sent: dict[str, Any]) -> None:
    with pytest.raises(Problem):
        parsed(SearchArguments, {"query": "leave", **sent})


numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | numbers | st.text(max_size=9)
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=9), inner)
)


@pytest.mark.thorough
@given(st.sampled_from(sorted(SearchArguments.model_fields)), values)
def test_a_value_that_is_not_parsed_is_refused(name: str, value: Any) -> None:
    sent = json.dumps({"query": "leave", name: value}).encode()

    with suppress(Problem):
        ToolArguments(sent).parse(SearchArguments).body()


@pytest.mark.anyio
async def test_a_tool_serves_what_a_careless_model_sends(ana: Caller) -> None:
    await ana.put("leave", LEAVE, source="wiki")
    careless = {"query": "annual leave", "top_k": "3.0", "sources": "wiki", "boost": "null"}

    async with connected(ana) as client:
        found = await client.call_tool("search", careless)
        listed = await client.call_tool("list_sources", {"random_string": ""})
        refused = await client.call_tool("search", {**careless, "limit": 3})

    assert [hit["id"] for hit in found.structured_content["results"]] == ["leave"]
    assert listed.structured_content["sources"] == [{"source": "wiki", "documents": 1}]
    assert refused.is_error
    assert "limit: unknown field" in text(refused)
