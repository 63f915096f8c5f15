"""What an admin sees and says of answers to similar questions: the counts, and the limit."""

from starlette.responses import Response

from gateway.caching.cache_services import CacheServices
from gateway.caching.semantic_schemas import SemanticAnswer, SemanticBody
from gateway.http.request_context import RequestContext
from gateway.http.responses import json_response


async def get_semantic(context: RequestContext[CacheServices]) -> Response:
    tenant = (await context.authenticate()).principal.tenant
    return await _shown(context.services, tenant)


async def put_semantic(context: RequestContext[CacheServices]) -> Response:
    """The new limit holds from the next look at the counts on, on every worker."""
    tenant = (await context.authenticate()).principal.tenant
    body = await context.parse_body(SemanticBody)
    await context.services.semantic_ledger.set_error_max(tenant, body.error_max)
    return await _shown(context.services, tenant)


async def _shown(services: CacheServices, tenant: str) -> Response:
    stats = await services.pair_stats.read(tenant)
    return json_response(
        SemanticAnswer(
            error_max=stats.error_max,
            pairs=stats.counts.seen,
            served=stats.counts.served,
            verified=stats.counts.verified,
            wrong=stats.counts.wrong,
            missing_right=stats.missing_right,
        )
    )
