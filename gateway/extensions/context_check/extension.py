"""What of an agent's context is still so, for its caller, now: over HTTP and as a tool."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson
from pydantic import BaseModel
from starlette.responses import Response

from gateway.extension import (
    ApiRoute,
    Extension,
    RequestContext,
    Services,
    body_limit,
    full_scope,
    read_response,
    with_revision,
)
from gateway.extensions.context_check.check_context_tool import CHECK_CONTEXT
from gateway.extensions.context_check.context_check_schemas import (
    PASSAGES_MAX,
    WATCHED_MAX,
    ContextCheckAnswer,
    ContextCheckBody,
    ContextEventData,
    ContextEventsBody,
)
from gateway.extensions.context_check.context_events import get_context_events
from gateway.extensions.context_check.context_services import ContextServices
from gateway.extensions.context_check.held_passages import HeldPassages
from gateway.extensions.context_check.passage_bodies import (
    answer_of,
    confirm_states,
    held_of,
    passages_shown,
)

_PASSAGE_BYTES_MAX = 3_000  # identifiers of documents have at most 2,048


async def check_context(context: RequestContext[ContextServices]) -> Response:
    body, services = await context.parse_body(ContextCheckBody), context.services
    caller = await context.authenticate()
    principal, held = caller.principal, held_of(caller, body.passages)
    states = await services.held_passages.check(full_scope(caller), principal.filter, held)
    confirm_states(principal, states)
    if shown := passages_shown(principal.tenant, states):
        services.read_log.passages(principal, shown)
    answer = orjson.dumps({"passages": [*map(answer_of, states)]}, option=orjson.OPT_UTC_Z)
    return with_revision(read_response(answer), caller.revisions, principal.tenant)


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
            body_bytes_max=body_limit(_PASSAGE_BYTES_MAX * PASSAGES_MAX),
            only_reads=True,
        ),
        ApiRoute(
            "POST",
            "/v1/context/events",
            get_context_events,
            needs="reader",
            summary="Stream what becomes of passages that the caller was given before",
            body=ContextEventsBody,
            answer=ContextEventData,
            media_type="text/event-stream",
            body_type="application/json",
            body_bytes_max=body_limit(_PASSAGE_BYTES_MAX * WATCHED_MAX),
            only_reads=True,
        ),
    ),
    open=_open,
    mcp_tools={"check_context": CHECK_CONTEXT},
)
