"""The tool `why_not`: an agent asks why a document is not among the results of its search."""

from collections.abc import Mapping
from typing import Any

import orjson
from pydantic import Field

from gateway.extension import (
    STRONG_HEADER,
    Address,
    Body,
    Headers,
    McpArguments,
    McpTool,
    RequestContext,
    SearchBody,
    parse_address,
    require_within_limits,
    schemas,
    tool_result,
)
from gateway.extensions._mcp.argument_parsing import ToolArguments
from gateway.extensions._mcp.search_arguments import SearchArguments
from gateway.extensions.why_not.why_not import MissedDocument, WhyNot
from gateway.extensions.why_not.why_not_schemas import WhyNotAnswer
from index.model.query import CONDITIONS

# By condition, the argument of `search` that states it.
_ARGUMENTS: Mapping[str, str] = {
    **{name: each.tool.name for name, each in CONDITIONS.items() if each.tool is not None},
    "attributes": "metadata",
    "valid_on": "as_of",
}


class WhyNotArguments(Body):
    id: Address = Field(description="of the document")
    search: dict[str, Any] = Field(description="its arguments")


class WhyNotResult(Body):
    reasons: tuple[str, ...]
    rank: int | None = None
    change: dict[str, Any] | None = Field(None, description="null: leave it out")


async def _why_not(
    context: RequestContext[WhyNot], arguments: McpArguments
) -> tuple[bytes, Headers]:
    asked = await arguments.parse_within(context.threads, WhyNotArguments)
    of_search = ToolArguments(orjson.dumps(asked.search))
    search = (await of_search.parse_within(context.threads, SearchArguments)).body()
    require_within_limits(schemas.parse(SearchBody, search))
    caller = await context.authenticate()
    document = parse_address(caller.principal.tenant, asked.id)
    missed = MissedDocument(caller, orjson.loads(search), document)
    result = _result(await context.services.explain(context, missed))
    return tool_result(orjson.dumps(result.model_dump(exclude_none=True))), [STRONG_HEADER]


def _result(answer: WhyNotAnswer) -> WhyNotResult:
    return WhyNotResult(
        reasons=answer.reasons,
        rank=answer.rank,
        change=None if answer.change is None else _arguments_of(answer.change),
    )


def _arguments_of(change: Mapping[str, Any]) -> dict[str, Any] | None:
    """None if `search` has no argument for it; the model may fetch the document."""
    conditions = change.get("filter", {})
    if not conditions.keys() <= _ARGUMENTS.keys():
        return None
    arguments = {name: value for name, value in change.items() if name != "filter"}
    return arguments | {_ARGUMENTS[name]: value for name, value in conditions.items()}


WHY_NOT = McpTool(
    "Ask why not",
    "Why a document is not among the results of a search, and which arguments find it.",
    WhyNotArguments,
    WhyNotResult,
    _why_not,
)
