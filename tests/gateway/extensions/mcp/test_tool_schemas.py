"""The schemas of the tools, as the pickiest clients take them."""

from collections.abc import Iterator
from itertools import chain, starmap
from typing import Any

import orjson
import pytest
from mcp_types import ListToolsResult, Tool
from pydantic import BaseModel, Field

from gateway.configured.installed_extensions import switched_on
from gateway.extensions._mcp import tool_schemas
from gateway.extensions.mcp import protocol, tools

CHARACTERS_MAX = 10_500  # of all tools; a client sends them to its model in every session
KEYWORDS = {"type", "description", "enum", "properties", "required", "items"}
TYPES = {"string", "integer", "number", "boolean", "array", "object"}

OF_EXTENSIONS = [each.mcp_tools.items() for each in switched_on("").values()]
TOOLS = [*starmap(protocol.describe, chain(tools.TOOLS.items(), *OF_EXTENSIONS))]

by_tool = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


def subschemas(schema: dict[str, Any], place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    yield place, schema
    for name, field in schema.get("properties", {}).items():
        yield from subschemas(field, f"{place}/{name}")
    if "items" in schema:
        yield from subschemas(schema["items"], f"{place}/*")


@by_tool
def test_a_schema_is_flat_self_contained_and_typed(tool: Tool) -> None:
    from jsonschema import Draft202012Validator  # which takes seconds to load

    for schema in (tool.input_schema, tool.output_schema):
        assert schema is not None
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        for place, part in subschemas(schema):
            assert part.keys() <= KEYWORDS, place
            assert part["type"] in TYPES, place
            assert (part["type"] == "array") == ("items" in part), place
            assert set(part.get("required", ())) <= part.get("properties", {}).keys(), place


@by_tool
def test_each_argument_says_what_it_is(tool: Tool) -> None:
    for name, argument in tool.input_schema["properties"].items():
        assert argument["description"], name


def test_the_tools_cost_a_session_little() -> None:
    sent = ListToolsResult(tools=TOOLS).model_dump(mode="json", by_alias=True, exclude_none=True)
    assert len(orjson.dumps(sent)) <= CHARACTERS_MAX


class Inner(BaseModel):
    title: str | None = Field(None, max_length=3)
    description: int | str = Field(description="either")


class Outer(BaseModel):
    """A docstring becomes a description."""

    inner: Inner = Field(description="its own")
    many: tuple[Inner, ...] | None = None
    named: dict[str, Inner] = {}
    anything: dict[str, Any] = {}


def test_a_model_becomes_a_schema_without_references() -> None:
    inner = {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "description": {"description": "either"},
        },
        "required": ["description"],
    }
    assert tool_schemas.of_model(Outer) == {
        "description": "A docstring becomes a description.",
        "type": "object",
        "properties": {
            "inner": inner | {"description": "its own"},
            "many": {"type": "array", "items": inner},
            "named": {"type": "object", "additionalProperties": inner},
            "anything": {"type": "object"},
        },
        "required": ["inner"],
    }
    bare = tool_schemas.without_descriptions(tool_schemas.of_model(Outer))
    assert bare["properties"]["inner"]["properties"]["description"] == {}
