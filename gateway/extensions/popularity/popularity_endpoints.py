"""Callers report which documents they opened; an admin decides what counts."""

from starlette.responses import Response

from cache.protocol import Revisions
from gateway.extension import RequestContext, full_scope, json_response
from gateway.extensions.popularity.popularity_schemas import (
    FeedbackAnswer,
    FeedbackBody,
    OpenedChunk,
    OpenedDocument,
    PopularityBody,
)
from gateway.extensions.popularity.popularity_services import PopularityServices


async def post_feedback(context: RequestContext[PopularityServices]) -> Response:
    """Record the openings of documents that the caller may read; others are ignored."""
    caller = await context.authenticate()
    body = await context.parse_body(FeedbackBody)
    own_tenant = caller.principal.tenant
    documents = [
        (hit.tenant or own_tenant, hit.document_id)
        for hit in body.hits
        if isinstance(hit, OpenedDocument)
    ]
    chunk_ids = [hit.chunk_id for hit in body.hits if isinstance(hit, OpenedChunk)]
    recorded = await context.services.openings.add(
        caller.principal, full_scope(caller), documents, chunk_ids
    )
    return json_response(FeedbackAnswer(recorded=recorded))


async def get_popularity(context: RequestContext[PopularityServices]) -> Response:
    principal = (await context.authenticate()).principal
    counts = await context.services.popularity.counted(principal.tenant)
    return json_response(PopularityBody(counts=counts))


async def put_popularity(context: RequestContext[PopularityServices]) -> Response:
    """Count from the next request on, on every worker; or stop, and delete what is stored."""
    tenant = (await context.authenticate()).principal.tenant
    body = await context.parse_body(PopularityBody)
    services = context.services
    committed = await services.popularity.put_counted(tenant, body.counts)
    if committed is not None:
        await services.invalidation.drain(tenant, Revisions(committed.history, committed.revisions))
    return json_response(body)
