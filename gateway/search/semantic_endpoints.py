"""What an admin sees and says of answers to similar questions: the bands, and the limit."""

from starlette.responses import Response

from cache.semantic import similarity_buckets
from cache.semantic.bucket_stats import Account
from cache.semantic.similarity_buckets import Counts
from gateway.http.request_context import Exchange, answer
from gateway.search.semantic_schemas import BandAnswer, SemanticAnswer, SemanticBody


async def get_semantic(exchange: Exchange) -> Response:
    tenant = (await exchange.admit()).principal.tenant
    return answer(_shown(await exchange.services.ledger.account(tenant)))


async def put_semantic(exchange: Exchange) -> Response:
    """The new limit holds from the next look at the counts on, on every worker."""
    tenant = (await exchange.admit()).principal.tenant
    body = exchange.parse(SemanticBody)
    await exchange.services.ledger.set_error_max(tenant, body.error_max)
    return answer(_shown(await exchange.services.ledger.account(tenant)))


def _shown(account: Account) -> SemanticAnswer:
    return SemanticAnswer(
        error_max=account.error_max,
        bands=tuple(
            _band(number, account.counts.get(number, Counts()), account.error_max)
            for number in range(len(similarity_buckets.EDGES))
        ),
    )


def _band(number: int, counts: Counts, error_max: float) -> BandAnswer:
    start, end = similarity_buckets.span(number)
    return BandAnswer(
        start=start,
        end=end,
        seen=counts.seen,
        served=counts.served,
        verified=counts.verified,
        wrong=counts.wrong,
        bound=similarity_buckets.bound(counts),
        is_open=similarity_buckets.is_open(counts, error_max),
    )
