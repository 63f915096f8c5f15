"""What an admin sees and says of answers to similar questions: the bands, and the limit."""

from starlette.responses import Response

from cache import bands
from cache.bands import Counts
from gateway.exchange import Exchange, answer
from gateway.services import Services
from gateway.wire import BandAnswer, SemanticAnswer, SemanticBody
from index.bands import BandCounts

_BODY_BYTES_MAX = 1_024


async def get_semantic(exchange: Exchange) -> Response:
    admitted = await exchange.admit()
    return answer(await _shown(exchange.services, admitted.holder.tenant))


async def put_semantic(exchange: Exchange) -> Response:
    """The new limit holds from the next look at the counts on, on every worker."""
    tenant = (await exchange.admit()).holder.tenant
    body = await exchange.parse(SemanticBody, _BODY_BYTES_MAX)
    await exchange.services.bands.set_error_max(tenant, body.error_max)
    return answer(await _shown(exchange.services, tenant))


def counted_under(services: Services) -> str:
    """The generation of the counts: of the index, and of the rules that choose what is counted."""
    return f"{services.generation.name}/{bands.RULES}"


async def _shown(services: Services, tenant: str) -> SemanticAnswer:
    known = await services.bands.read(tenant, counted_under(services))
    assert known is not None, "tenants are never removed while somebody holds their key"
    own = known.error_max
    error_max = services.settings.semantic_error_max if own is None else own
    return SemanticAnswer(
        error_max=error_max,
        bands=tuple(
            _band(number, known.bands.get(number, BandCounts()), error_max)
            for number in range(len(bands.EDGES))
        ),
    )


def _band(number: int, kept: BandCounts, error_max: float) -> BandAnswer:
    counts = Counts(kept.seen, kept.served, kept.verified, kept.wrong)
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
