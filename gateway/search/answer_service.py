"""The answer to a search: from a cache, or computed; and the records of serving it."""

from cache.answers import CacheLookup, ServedAnswer
from cache.protocol import Revisions
from gateway.recording.low_confidence_log import LOW_CONFIDENCE_SUFFIX
from gateway.search.response_body import compute_answer
from gateway.search.search_request import SearchRequest
from gateway.search.search_services import SearchServices


async def get_or_compute(
    services: SearchServices, search: SearchRequest, revisions: Revisions
) -> ServedAnswer:
    """An answer that is correct at `revisions`, of each partition of the scope.

    Raises `DatabaseUnavailable`.
    """
    lookup = await _cache_lookup(services, search)
    return await services.answers.get_or_compute(
        lookup,
        revisions,
        lambda: compute_answer(
            services.searcher,
            search.scope,
            search.query,
            services.rag_tools,
            revisions.history,
            is_recorded=lookup.is_shared,
        ),
    )


def record_served(services: SearchServices, search: SearchRequest, served: ServedAnswer) -> None:
    """Log the read and a low-confidence question; audit a sample of the cached answers."""
    services.read_log.answer(search.principal, search.key, served.body)
    services.auditor.sample(search.scope, search.query, search.key, served)
    if served.body.endswith(LOW_CONFIDENCE_SUFFIX):
        services.low_confidence.add(search.scope.tenant, search.query.text, served.body)


async def _cache_lookup(services: SearchServices, search: SearchRequest) -> CacheLookup:
    question = None
    if search.question_group:
        question = await services.similarity.question(search.question_group, search.query.text)
    is_cheap = question is None and search.query.postprocessing is None
    is_shared = not (is_cheap and services.searcher.answers_from_memory(search.scope, search.query))
    return CacheLookup(search.scope.tenant, search.key, question, is_shared)
