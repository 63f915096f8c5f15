"""What an admin sees and says of answers to similar questions: the bands, and the limit."""

from starlette.responses import Response

from cache import bands
from cache.bands import Counts
from cache.tallies import Account
from gateway.exchange import Exchange, answer
from gateway.semantic_wire import BandAnswer, SemanticAnswer, SemanticBody


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
            for number in range(len(bands.EDGES))
        ),
    )


def _band(number: int, counts: Counts, error_max: float) -> BandAnswer:
    start, end = bands.span(number)
    return BandAnswer(
        start=start,
        end=end,
        seen=counts.seen,
        served=counts.served,
        verified=counts.verified,
        wrong=counts.wrong,
        bound=bands.bound(counts),
        is_open=bands.is_open(counts, error_max),
    )
