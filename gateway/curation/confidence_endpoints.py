"""How sure answers have to be, as an admin sets it."""

from starlette.responses import Response

from gateway.curation.curation_schemas import ConfidenceAnswer, ConfidenceBody
from gateway.curation.curation_services import CurationServices
from gateway.http.request_context import RequestContext
from gateway.http.responses import json_response
from index.search.confidence import Confidence


async def get_confidence(exchange: RequestContext[CurationServices]) -> Response:
    tenant = (await exchange.authenticate()).principal.tenant
    return json_response(_shown(await exchange.services.confidences.read(tenant)))


async def put_confidence(exchange: RequestContext[CurationServices]) -> Response:
    """It holds from the next request on, on every worker."""
    tenant = (await exchange.authenticate()).principal.tenant
    body = exchange.parse_body(ConfidenceBody)
    confidence = Confidence(body.min, body.sources, body.fallback)
    await exchange.services.confidences.put(tenant, confidence)
    return json_response(_shown(confidence))


def _shown(confidence: Confidence) -> ConfidenceAnswer:
    return ConfidenceAnswer(
        min=confidence.score_min, sources=dict(confidence.sources), fallback=confidence.fallback
    )
