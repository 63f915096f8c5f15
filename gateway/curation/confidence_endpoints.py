"""How sure answers have to be, as an admin sets it."""

from starlette.responses import Response

from gateway.curation.curation_schemas import ConfidenceAnswer, ConfidenceBody
from gateway.http.request_context import Exchange, answer
from index.search.confidence import Confidence


async def get_confidence(exchange: Exchange) -> Response:
    tenant = (await exchange.admit()).principal.tenant
    return answer(_shown(await exchange.services.confidences.read(tenant)))


async def put_confidence(exchange: Exchange) -> Response:
    """It holds from the next request on, on every worker."""
    tenant = (await exchange.admit()).principal.tenant
    body = exchange.parse(ConfidenceBody)
    confidence = Confidence(body.min, body.sources, body.fallback)
    await exchange.services.confidences.put(tenant, confidence)
    return answer(_shown(confidence))


def _shown(confidence: Confidence) -> ConfidenceAnswer:
    return ConfidenceAnswer(
        min=confidence.score_min, sources=dict(confidence.sources), fallback=confidence.fallback
    )
