"""The answer to what is wanted: from a cache, or computed; and what is noted of giving it."""

from cache.answers import CacheLookup, ServedAnswer
from cache.protocol import Revisions
from gateway.curation.low_confidence_log import UNSURE
from gateway.search.response_body import compute_answer
from gateway.search.search_request import SearchRequest
from gateway.services import Services


async def get_or_compute(
    services: Services, wanted: SearchRequest, revisions: Revisions
) -> ServedAnswer:
    """An answer that is right at `revisions`, of each partition of the scope.

    Raises `DatabaseUnavailable`.
    """
    return await services.answers.get_or_compute(
        await _cache_lookup(services, wanted),
        revisions,
        lambda: compute_answer(
            services.searcher, wanted.scope, wanted.query, services.rag_tools, revisions.history
        ),
    )


def record_served(services: Services, wanted: SearchRequest, served: ServedAnswer) -> None:
    """Who was shown what, and what could not be answered; now and then, whether it was right."""
    services.read_log.answer(wanted.principal, wanted.key, served.body)
    services.auditor.sample(wanted.scope, wanted.query, wanted.key, served)
    if served.body.endswith(UNSURE):
        services.rag_tools.doubts.add(wanted.scope.tenant, wanted.query.text, served.body)


async def _cache_lookup(services: Services, wanted: SearchRequest) -> CacheLookup:
    question = None
    if wanted.question_group:
        question = await services.similarity.question(wanted.question_group, wanted.query.text)
    return CacheLookup(wanted.scope.tenant, wanted.key, question)
