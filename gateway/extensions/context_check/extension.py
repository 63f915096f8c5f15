"""What of an agent's context is still so, for its caller, now: over HTTP and as a tool."""

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import orjson
from pydantic import BaseModel
from starlette.responses import Response

from gateway.extension import (
    ApiRoute,
    AuthenticatedRequest,
    Extension,
    RequestContext,
    Services,
    ShownChunks,
    address_of,
    body_limit,
    full_scope,
    parse_min_revision,
    read_response,
    with_revision,
)
from gateway.extensions.context_check.check_context_tool import CHECK_CONTEXT
from gateway.extensions.context_check.context_check_schemas import (
    PASSAGES_MAX,
    ContextCheckAnswer,
    ContextCheckBody,
)
from gateway.extensions.context_check.context_services import ContextServices
from gateway.extensions.context_check.held_passages import (
    AddedPassage,
    HeldPassage,
    HeldPassages,
    PassageState,
)

_BODY_BYTES_MAX = 3_000 * PASSAGES_MAX  # identifiers of documents have at most 2,048 bytes


async def check_context(context: RequestContext[ContextServices]) -> Response:
    body, services = await context.parse_body(ContextCheckBody), context.services
    caller = await context.authenticate()
    tenant, since = caller.principal.tenant, _Since(caller)
    held = [
        HeldPassage(
            each.chunk_id,
            each.tenant or tenant,
            each.document_id,
            each.updated_at,
            None if each.revision is None else since[each.revision],
            each.start,
        )
        for each in body.passages
    ]
    scope, document_filter = full_scope(caller), caller.principal.filter
    states = await services.held_passages.check(scope, document_filter, held)
    if shown := _shown(tenant, states):
        services.read_log.passages(caller.principal, shown)
    answer = orjson.dumps({"passages": [*map(_answer, states)]}, option=orjson.OPT_UTC_Z)
    return with_revision(read_response(answer), caller.revisions, tenant)


def _shown(tenant: str, states: Sequence[PassageState]) -> ShownChunks:
    """The passages that the answer has the texts of, for the log of reads."""
    shown = defaultdict[str, set[int]](set)
    for state in states:
        if state.changed:
            assert state.address is not None
            address = address_of(tenant, *state.address)
            shown[address].update(each.chunk_id for each in state.changed)
    return {**shown}


class _Since(dict[str, Mapping[str, int]]):
    """By what a caller sends as `revision`, that of each partition; none of another history."""

    def __init__(self, caller: AuthenticatedRequest) -> None:
        self._tenant, self._history = caller.principal.tenant, caller.revisions.history

    def __missing__(self, sent: str) -> Mapping[str, int]:
        revision = parse_min_revision(sent.encode())
        assert revision is not None, "the body is valid"
        is_known = revision.is_of(self._tenant, self._history)
        self[sent] = numbers = revision.by_partition(self._tenant) if is_known else {}
        return numbers


def _answer(state: PassageState) -> dict[str, Any]:
    """As `PassageStateAnswer`; a thousand models would take longer than the search for them."""
    return {
        "state": state.state,
        "updated_at": state.updated_at,
        "replaced_by": state.replaced_by,
        "changed": None if state.changed is None else [*map(_changed, state.changed)],
    }


def _changed(passage: AddedPassage) -> dict[str, Any]:
    return {
        "chunk_id": passage.chunk_id,
        "start": passage.start,
        "end": passage.end,
        "text": passage.text,
    }


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[ContextServices]:
    yield ContextServices(HeldPassages(services.stores.database), services.search.read_log)


EXTENSION = Extension(
    summary="an agent asks which passages of its context are still so, for its caller",
    routes=(
        ApiRoute(
            "POST",
            "/v1/context/check",
            check_context,
            needs="reader",
            summary="Check whether passages that the caller was given before still hold",
            body=ContextCheckBody,
            answer=ContextCheckAnswer,
            body_bytes_max=body_limit(_BODY_BYTES_MAX),
            only_reads=True,
        ),
    ),
    open=_open,
    mcp_tools={"check_context": CHECK_CONTEXT},
)
