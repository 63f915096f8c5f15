"""Why a document is not in the answer to a search: over HTTP and as a tool."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from pydantic import BaseModel
from starlette.responses import Response

from gateway.extension import (
    ApiRoute,
    Extension,
    RequestContext,
    Services,
    decode_json,
    freshness_of,
    problems,
    read_response,
    require_within_limits,
    with_revision,
)
from gateway.extensions.why_not.why_not import MissedDocument, WhyNot
from gateway.extensions.why_not.why_not_schemas import WhyNotAnswer, WhyNotBody
from gateway.extensions.why_not.why_not_tool import WHY_NOT


async def why_not(context: RequestContext[WhyNot]) -> Response:
    body = await context.parse_body(WhyNotBody)
    require_within_limits(body)
    if body.is_conversational:
        name = "history" if "history" in body.model_fields_set else "gate"
        raise problems.invalid_field(name, "must be absent: send the query that was searched")
    freshness = freshness_of(body, context.min_revision)
    caller = await context.authenticate(freshness=replace(freshness, consistency="strong"))
    own_tenant = caller.principal.tenant
    search = decode_json(context.body)
    document = search.pop("tenant", None) or own_tenant, search.pop("document_id")
    answer = await context.services.explain(context, MissedDocument(caller, search, document))
    return with_revision(read_response(answer), caller.revisions, own_tenant)


@asynccontextmanager
async def _open(services: Services, _: BaseModel) -> AsyncIterator[WhyNot]:
    yield WhyNot(services.search, services.stores.visible_documents)


EXTENSION = Extension(
    summary="a caller asks why a document is not in the answer to a search",
    routes=(
        ApiRoute(
            "POST",
            "/v1/search/why-not",
            why_not,
            needs="reader",
            summary="Explain why a document is not in the answer to a search",
            body=WhyNotBody,
            answer=WhyNotAnswer,
            only_reads=True,
        ),
    ),
    open=_open,
    mcp_tools={"why_not": WHY_NOT},
)
