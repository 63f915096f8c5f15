"""What an admin sees and says of answers to similar questions: the buckets, and the limit."""

from starlette.responses import Response

from cache.semantic import similarity_buckets
from cache.semantic.bucket_stats import TenantStats
from cache.semantic.similarity_buckets import BucketCounts
from gateway.caching.cache_services import CacheServices
from gateway.caching.semantic_schemas import BucketAnswer, SemanticAnswer, SemanticBody
from gateway.http.request_context import RequestContext
from gateway.http.responses import json_response


async def get_semantic(context: RequestContext[CacheServices]) -> Response:
    tenant = (await context.authenticate()).principal.tenant
    return json_response(_shown(await context.services.buckets.read(tenant)))


async def put_semantic(context: RequestContext[CacheServices]) -> Response:
    """The new limit holds from the next look at the counts on, on every worker."""
    tenant = (await context.authenticate()).principal.tenant
    body = context.parse_body(SemanticBody)
    await context.services.buckets.set_error_max(tenant, body.error_max)
    return json_response(_shown(await context.services.buckets.read(tenant)))


def _shown(account: TenantStats) -> SemanticAnswer:
    return SemanticAnswer(
        error_max=account.error_max,
        buckets=tuple(
            _bucket(number, account.counts.get(number, BucketCounts()), account.error_max)
            for number in range(len(similarity_buckets.EDGES))
        ),
    )


def _bucket(number: int, counts: BucketCounts, error_max: float) -> BucketAnswer:
    start, end = similarity_buckets.bucket_bounds(number)
    return BucketAnswer(
        start=start,
        end=end,
        pairs=counts.seen,
        served=counts.served,
        verified=counts.verified,
        wrong=counts.wrong,
        error_bound=similarity_buckets.error_upper_bound(counts),
        enabled=similarity_buckets.is_open(counts, error_max),
    )
