"""The tool `check_context`: an agent asks which results in its context still hold."""

from typing import Annotated

import orjson
from pydantic import FailFast, Field

from gateway.extension import (
    STRONG_HEADER,
    Address,
    Body,
    Headers,
    McpArguments,
    McpTool,
    RequestContext,
    address_of,
    full_scope,
    parse_address,
    tool_result,
)
from gateway.extensions.context_check.context_check_schemas import ChunkId
from gateway.extensions.context_check.context_services import ContextServices
from gateway.extensions.context_check.held_passages import (
    HeldPassage,
    PassageState,
    State,
)
from gateway.extensions.context_check.passage_bodies import confirm_states

_RESULTS_MAX = 200  # what a model can list; programs send 1,000 over HTTP


class HeldResult(Body):
    id: Address
    passage: ChunkId | None = Field(
        None, description="without it: whether the document still exists"
    )


class CheckContextArguments(Body):
    # FailFast as in `ContextCheckBody`: only valid items count for max_length.
    results: Annotated[tuple[HeldResult, ...], FailFast()] = Field(
        min_length=1, max_length=_RESULTS_MAX, description="Those that you still use."
    )


class CheckedResult(Body):
    id: str
    passage: int | None = None
    state: State = Field(description="edited: search again; gone: deleted or withdrawn")
    replaced_by: str | None = Field(None, description="id of a document that replaces it")


class CheckedResults(Body):
    results: tuple[CheckedResult, ...]


async def _check(
    context: RequestContext[ContextServices], arguments: McpArguments
) -> tuple[bytes, Headers]:
    caller = await context.authenticate()
    parsed = await arguments.parse_within(context.threads, CheckContextArguments)
    results = parsed.results
    tenant = caller.principal.tenant
    held = [_held(tenant, result) for result in results]
    states = await context.services.held_passages.check(
        full_scope(caller), caller.principal.filter, held
    )
    confirm_states(caller.principal, states)
    checked = map(_checked, [tenant] * len(results), results, held, states)
    answer = CheckedResults(results=tuple(checked)).model_dump(exclude_none=True)
    return tool_result(orjson.dumps(answer)), [STRONG_HEADER]


def _held(own_tenant: str, result: HeldResult) -> HeldPassage:
    tenant, document_id = parse_address(own_tenant, result.id)
    return HeldPassage(result.passage, tenant, document_id)


def _checked(
    own_tenant: str, result: HeldResult, held: HeldPassage, state: PassageState
) -> CheckedResult:
    replaced_by = None
    if state.replaced_by is not None:
        replaced_by = address_of(own_tenant, held.tenant, state.replaced_by)
    return CheckedResult(
        id=result.id, passage=result.passage, state=state.state, replaced_by=replaced_by
    )


CHECK_CONTEXT = McpTool(
    "Check what you know",
    "Whether results of earlier calls still hold. Use it before you rely on results that are "
    "minutes old.",
    CheckContextArguments,
    CheckedResults,
    _check,
)
