"""Search plans and strategies by the Model Context Protocol, through its own package."""

from typing import Any

import orjson
import pytest
from mcp_types import CallToolResult

from gateway.extensions._mcp import results
from gateway.extensions.mcp import protocol
from gateway.extensions.plans.plan_tools import TOOLS, SearchPlanArguments
from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.extensions.mcp.test_mcp import connected, text
from tests.gateway.support.gateways import Caller, running

pytestmark = pytest.mark.anyio


@pytest.fixture
async def reader(ana: Caller) -> Caller:
    await ana.put("leave", "Everybody gets 25 days of annual leave.", tags=["people"])
    await ana.put("parents", "Parents apply for leave with the form P-7.", tags=["people"])
    await ana.put("travel", "Apply for trains two weeks ahead.", tags=["travel"], source="desk")
    return ana


def found(result: CallToolResult) -> dict[str, list[str]]:
    assert not result.is_error, text(result)
    assert result.structured_content == orjson.loads(text(result))
    return {
        step["name"]: [hit["id"] for hit in step["results"]]
        for step in result.structured_content["steps"]
    }


async def test_an_agent_searches_within_what_it_has_found(reader: Caller) -> None:
    steps = [
        {"name": "leave", "query": "annual leave", "tags": ["people"], "top_k": 20},
        {"name": "how", "query": "how to apply", "in_documents_of": "leave", "top_k": 1},
        {"name": "else", "query": "how to apply", "not_in_documents_of": "leave"},
        {"name": "like", "query": "days", "with_tags_of": "how", "min_score": 0.01},
        {"name": "desk", "query": "apply", "sources": ["desk"]},
        {"name": "rest", "difference": ["leave", "how"]},
        {"name": "both", "intersection": ["leave", "how"], "top_k": 1},
        {"name": "all", "union": ["how", "else"]},
    ]
    async with connected(reader) as client:
        result = await client.call_tool(
            "search_plan",
            {"steps": steps, "show": ["how", "else", "like", "desk", "rest", "both", "all"]},
        )

    assert found(result) == {
        "how": ["parents"],
        "else": ["travel"],
        "like": ["leave"],
        "desk": ["travel"],
        "rest": ["leave"],
        "both": ["parents"],
        "all": ["parents", "travel"],
    }


async def test_an_agent_finds_and_runs_a_strategy(reader: Caller, admin: Caller) -> None:
    strategy = {
        "description": "How to apply for something.",
        "parameters": {"what": {"type": "string", "description": "what to apply for"}},
        "plan": {"steps": [{"name": "how", "query": {"parameter": "what"}, "top_k": 1}]},
    }
    stored = await admin.call("PUT", "/v1/strategies/apply", json=strategy)
    assert stored.status_code == 200, stored.text

    async with connected(reader) as client:
        listed = await client.call_tool("list_strategies")
        result = await client.call_tool(
            "search_plan", {"strategy": "apply", "parameters": {"what": "trains"}}
        )
        missing = await client.call_tool("search_plan", {"strategy": "apply"})

    assert listed.structured_content == {
        "strategies": [
            {
                "name": "apply",
                "description": strategy["description"],
                "parameters": strategy["parameters"],
            }
        ]
    }
    assert found(result) == {"how": ["travel"]}
    assert "parameters.what: must be set" in text(missing)


async def test_an_agent_is_told_which_steps_a_strategy_had_no_time_for(
    reader: Caller, admin: Caller
) -> None:
    steps = [{"name": "how", "query": "a question that no cache has"}]
    strategy = {"plan": {"steps": steps, "budget": {"time_ms": 1}}}
    stored = await admin.call("PUT", "/v1/strategies/hasty", json=strategy)
    assert stored.status_code == 200, stored.text

    async with connected(reader) as client:
        result = await client.call_tool("search_plan", {"strategy": "hasty"})

    assert result.structured_content == {"steps": [], "unfinished": ["how"]}


A = {"name": "a", "query": "leave"}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({}, "steps: must be set, or a strategy"),
        ({"steps": [{"name": "a"}]}, "steps.0: must have one of query, union"),
        ({"steps": [A, {**A, "name": "b", "union": ["a", "a"]}]}, "steps.1: must have one of"),
        (
            {"steps": [A, {"name": "b", "query": "days", "in_documents_of": "c"}]},
            "steps.1.in_documents_of: no step has the name c",
        ),
        (
            {"steps": [A, {"name": "b", "union": ["a", "c"]}]},
            "steps.1.union.1: no step has the name c",
        ),
        (
            {"steps": [A, {"name": "b", "union": ["a", "a"], "sources": ["x"]}]},
            "steps.1.filter",
        ),
        ({"steps": [{**A, "tags": ["a" * 600]}]}, "steps.0.tags.0: "),
        ({"steps": [A], "show": ["b"]}, "show.0: no step has the name b"),
        ({"steps": [{**A, "query": " "}]}, "steps.0.query: "),
        ({"steps": [{**A, "filter": {}}]}, "steps.0.filter: "),
        ({"strategy": "none"}, "strategy: The tenant has no strategy of this name"),
    ],
)
async def test_an_error_names_the_argument_that_the_model_gave(
    ana: Caller, arguments: dict[str, Any], reason: str
) -> None:
    async with connected(ana) as client:
        refused = await client.call_tool("search_plan", arguments)

    assert refused.is_error
    assert reason in text(refused)


@pytest.mark.slow
async def test_the_steps_share_the_room_of_a_result(
    settings: Settings, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens_max = 900
    monkeypatch.setattr("gateway.extensions._mcp.results.TOKENS_MAX", tokens_max)
    async with running(settings, embedder) as gateway:
        await gateway.tenant("acme")
        ana = await gateway.caller("ana")
        for number in range(6):
            await ana.put(f"long{number}", f"Leave is long in part {number}. " * 20)
        names = ["a", "b", "c"]
        steps = [{"name": name, "query": f"leave {name}", "top_k": 6} for name in names]
        async with connected(ana) as client:
            result = await client.call_tool("search_plan", {"steps": steps})

    assert len(text(result).encode()) <= tokens_max * results.BYTES_PER_TOKEN
    shown = [len(step["results"]) for step in result.structured_content["steps"]]
    left_out = [step["left_out"] for step in result.structured_content["steps"]]
    assert min(shown) > 0
    assert [sum(both) for both in zip(shown, left_out, strict=True)] == [6, 6, 6]


def test_a_model_can_follow_the_schema() -> None:
    """Flat steps: no argument of a step is an object, each says what it is, and an example fits."""
    tool = protocol.describe("search_plan", TOOLS["search_plan"])
    step = tool.input_schema["properties"]["steps"]["items"]
    example = (tool.description or "").partition("Example: ")[2].partition(". Passages")[0]
    SearchPlanArguments.model_validate_json(example)

    for argument in step["properties"].values():
        assert argument["description"]
        assert argument["type"] in {"string", "integer", "number", "array"}
    assert step["required"] == ["name"]
