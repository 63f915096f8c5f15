"""What an admin sees and says of answers to similar questions: the bands, and the limit."""

from starlette.responses import Response

from cache.semantic import similarity_buckets
from cache.semantic.bucket_stats import TenantStats
from cache.semantic.similarity_buckets import BucketCounts
from gateway.http.request_context import RequestContext, json_response
from gateway.search.semantic_schemas import BandAnswer, SemanticAnswer, SemanticBody


async def get_semantic(exchange: RequestContext) -> Response:
    tenant = (await exchange.authenticate()).principal.tenant
    return json_response(_shown(await exchange.services.bucket_store.read(tenant)))


async def put_semantic(exchange: RequestContext) -> Response:
    """The new limit holds from the next look at the counts on, on every worker."""
    tenant = (await exchange.authenticate()).principal.tenant
    body = exchange.parse_body(SemanticBody)
    await exchange.services.bucket_store.set_error_max(tenant, body.error_max)
    return json_response(_shown(await exchange.services.bucket_store.read(tenant)))


def _shown(account: TenantStats) -> SemanticAnswer:
    return SemanticAnswer(
        error_max=account.error_max,
        bands=tuple(
            _band(number, account.counts.get(number, BucketCounts()), account.error_max)
            for number in range(len(similarity_buckets.EDGES))
        ),
    )


def _band(number: int, counts: BucketCounts, error_max: float) -> BandAnswer:
    start, end = similarity_buckets.bucket_bounds(number)
    return BandAnswer(
        start=start,
        end=end,
        seen=counts.seen,
        served=counts.served,
        verified=counts.verified,
        wrong=counts.wrong,
        bound=similarity_buckets.error_upper_bound(counts),
        is_open=similarity_buckets.is_open(counts, error_max),
    )
