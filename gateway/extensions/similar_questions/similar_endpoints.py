"""What an admin sees and says of answers to similar questions: the counts, and the limit."""

from starlette.responses import Response

from gateway.extension import RequestContext, json_response
from gateway.extensions.similar_questions.pair_stats import PairStats
from gateway.extensions.similar_questions.similar_schemas import SemanticAnswer, SemanticBody


async def get_semantic(context: RequestContext[PairStats]) -> Response:
    tenant = (await context.authenticate()).principal.tenant
    return await _shown(context.services, tenant)


async def put_semantic(context: RequestContext[PairStats]) -> Response:
    """The new limit holds from the next look at the counts on, on every worker."""
    tenant = (await context.authenticate()).principal.tenant
    body = await context.parse_body(SemanticBody)
    await context.services.set_error_max(tenant, body.error_max)
    return await _shown(context.services, tenant)


async def _shown(stats: PairStats, tenant: str) -> Response:
    read = await stats.read(tenant)
    return json_response(
        SemanticAnswer(
            error_max=read.error_max,
            pairs=read.counts.seen,
            served=read.counts.served,
            verified=read.counts.verified,
            wrong=read.counts.wrong,
            missing_right=read.missing_right,
        )
    )
