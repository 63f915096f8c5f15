"""The answer to a search: from a cache, or computed; and the records of serving it."""

from collections.abc import Callable, Iterator

from cache.lookup import CacheLookup, ComputedAnswer, ServedAnswer
from cache.protocol import Revisions
from common.billing_context import bill_to
from gateway.auth.authenticator import AuthenticatedRequest
from gateway.monitoring.search_metrics import outcome_of
from gateway.recording.low_confidence_log import LOW_CONFIDENCE_SUFFIX
from gateway.search.answer_keys import AnswerKey, acceptable_keys, latest_key, read_key
from gateway.search.response_body import build_answer, compute_answer, search_index
from gateway.search.search_request import SearchRequest
from gateway.search.search_services import SearchServices
from index.errors import DatabaseUnavailable, VectorRefused
from index.search.searcher import SearchResult


async def search_at_once(
    services: SearchServices, search: SearchRequest, is_confirmed: Callable[[SearchResult], bool]
) -> ServedAnswer | None:
    """A computed answer whose revision is not read beforehand: its own statement returns it.

    is_confirmed: whether the caller is the search's principal when the result was read.
    None if it is not, if memory may have the answer, if somebody else computes it, if no shard is
    likely to propose, if no statement is needed, or if it has not been read what the caller sees;
    nor with a standby, which may be behind.
    """
    if (
        search.own_question_group
        or services.searcher.has_standby
        or not services.database.is_watched
        or not _is_from_shards(services, search)
        or services.searcher.is_in_memory(search.scope, search.query)
    ):
        return None
    keyed = latest_key(services.sights, search)
    if keyed is None:
        return None

    async def compute() -> ComputedAnswer | None:
        try:
            result = await search_index(services.searcher, search.scope, search.query)
        except (DatabaseUnavailable, VectorRefused):  # only a confirmed caller is told why
            return None
        if not is_confirmed(result):
            return None
        return await build_answer(
            result,
            search.scope,
            search.query,
            services.rag_tools,
            services.metrics.search,
            is_recorded=False,
        )

    lookup = CacheLookup(search.scope.tenant, keyed.key, own_key=keyed.own_key)
    served = await services.answers.compute_at_once(lookup, keyed.revisions, compute)
    if served is not None and served.key != keyed.key:
        # The next search reads what is seen now.
        outdated = keyed.revisions.audiences[search.scope.tenant]
        services.sights.forget(search.scope, outdated)
    return served


async def get_or_compute(
    services: SearchServices, search: SearchRequest, revisions: Revisions
) -> ServedAnswer:
    """An answer that is correct at `revisions`, of each partition of the scope.

    Raises `DatabaseUnavailable`.
    """
    keyed = await read_key(services.sights, search, revisions)
    lookup = await _cache_lookup(services, search, keyed)
    # What a question depends on is worth recording once it comes again.
    is_recorded = lookup.is_shared or services.answers.is_repeated(lookup.key)
    return await services.answers.get_or_compute(
        lookup,
        keyed.revisions,
        lambda: compute_answer(
            services.searcher,
            search.scope,
            search.query,
            services.rag_tools,
            services.metrics.search,
            revisions,
            is_recorded=is_recorded,
        ),
    )


def record_served(
    services: SearchServices,
    search: SearchRequest,
    served: ServedAnswer,
    seconds: float | None = None,
) -> None:
    """Count and log the read and its question; audit a sample of the answers.

    seconds: that the answer took; None if it is one of several that were computed together.
    """
    services.read_log.answer(search.principal, served.key, served.body)
    services.auditor.sample(search.scope, search.query, served)
    is_low_confidence = served.body.endswith(LOW_CONFIDENCE_SUFFIX)
    outcome = outcome_of(served.body, is_low_confidence=is_low_confidence)
    services.metrics.search.served(search.scope.tenant, outcome)
    services.statistics.served(search.scope.tenant, served.tier, outcome, seconds)
    services.asked_questions.add(search.principal, search.query.text, outcome)
    if is_low_confidence and search.query.text:
        services.low_confidence.add(search.scope.tenant, search.query.text, served.body)


def get_local(
    services: SearchServices, search: SearchRequest, admitted: AuthenticatedRequest
) -> ServedAnswer | None:
    """The answer from memory, as old as the caller allows; nothing is read elsewhere."""
    for keyed in _acceptable_keys(services, search, admitted):
        served = services.answers.get_local(keyed.key, keyed.revisions)
        if served is not None:
            return served
    return None


def has_local(
    services: SearchServices, search: SearchRequest, admitted: AuthenticatedRequest
) -> bool:
    """As `get_local`, whether there is one; nothing is counted."""
    return any(
        services.answers.has_local(keyed.key, keyed.revisions)
        for keyed in _acceptable_keys(services, search, admitted)
    )


def _acceptable_keys(
    services: SearchServices, search: SearchRequest, admitted: AuthenticatedRequest
) -> Iterator[AnswerKey]:
    oldest = admitted.oldest.of(search.scope.partitions)
    is_older = admitted.oldest is not admitted.revisions or admitted.age_s > 0
    return acceptable_keys(services.sights, search, oldest, is_older=is_older)


async def _cache_lookup(
    services: SearchServices, search: SearchRequest, keyed: AnswerKey
) -> CacheLookup:
    question = None
    if keyed.question_group:
        with bill_to(search.scope.tenant):
            question = await services.similarity.question(keyed.question_group, search.query.text)
    is_shared = question is not None or not _is_from_shards(services, search)
    return CacheLookup(search.scope.tenant, keyed.key, question, is_shared, keyed.own_key)


def _is_from_shards(services: SearchServices, search: SearchRequest) -> bool:
    """Whether the answer takes less time to compute than to look up and store in Redis."""
    return search.query.postprocessing is None and services.searcher.answers_from_memory(
        search.scope, search.query
    )
