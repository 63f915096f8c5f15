"""What of an agent's context is still so, for its caller, now: over HTTP and as a tool."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

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
    ContextCheckAnswer,
    ContextCheckBody,
    PassageStateAnswer,
)
from gateway.extensions.context_check.held_passages import HeldPassage, HeldPassages

_BODY_BYTES_MAX = 3_000 * PASSAGES_MAX  # identifiers of documents have at most 2,048 bytes


async def check_context(context: RequestContext[HeldPassages]) -> Response:
    body = await context.parse_body(ContextCheckBody)
    caller = await context.authenticate()
    tenant = caller.principal.tenant
    held = [
        HeldPassage(each.chunk_id, each.tenant or tenant, each.document_id, each.updated_at)
        for each in body.passages
    ]
    states = await context.services.check(full_scope(caller), caller.principal.filter, held)
    answer = ContextCheckAnswer(
        passages=tuple(
            PassageStateAnswer(
                state=each.state, updated_at=each.updated_at, replaced_by=each.replaced_by
            )
            for each in states
        )
    )
    return with_revision(read_response(answer), caller.revisions, tenant)


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[HeldPassages]:
    yield HeldPassages(services.stores.database)


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
