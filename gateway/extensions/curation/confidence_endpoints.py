"""An admin gets and sets the minimum scores of confident answers."""

from starlette.responses import Response

from cache.protocol import Revisions
from gateway.extension import RequestContext, json_response, utc_now, with_revision
from gateway.extensions.curation.best_scores import KEPT_DAYS
from gateway.extensions.curation.curation_schemas import (
    BestScoreCount,
    BestScoresAnswer,
    ConfidenceAnswer,
    ConfidenceBody,
)
from gateway.extensions.curation.curation_services import CurationServices
from index.search.confidence import Confidence


async def get_confidence(context: RequestContext[CurationServices]) -> Response:
    tenant = (await context.authenticate()).principal.tenant
    return json_response(_answer(await context.services.confidences.read(tenant)))


async def put_confidence(context: RequestContext[CurationServices]) -> Response:
    """Set the minimum scores; they hold on every worker from the next request on."""
    caller = await context.authenticate()
    tenant = caller.principal.tenant
    body = await context.parse_body(ConfidenceBody)
    confidence = Confidence(body.score_min, body.sources, body.fallback)
    revision = await context.services.confidences.put(tenant, confidence)
    revisions = Revisions(caller.revisions.history, {tenant: revision})
    return with_revision(json_response(_answer(confidence)), revisions, tenant)


async def get_best_scores(context: RequestContext[CurationServices]) -> Response:
    """Of the answers of all processes, but for the last seconds of the others."""
    tenant = (await context.authenticate()).principal.tenant
    await context.services.best_score_log.pending.flush()
    counts = await context.services.best_scores.counts(tenant, utc_now().date())
    return json_response(
        BestScoresAnswer(
            scores=tuple(
                BestScoreCount(score=percent / 100, answers=answers)
                for percent, answers in counts.items()
            ),
            kept_days=KEPT_DAYS,
        )
    )


def _answer(confidence: Confidence) -> ConfidenceAnswer:
    return ConfidenceAnswer(
        score_min=confidence.score_min,
        sources=dict(confidence.sources),
        fallback=confidence.fallback,
    )
