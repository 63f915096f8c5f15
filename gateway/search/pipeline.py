"""The one way to the answer of a search; every call that searches goes it.

asked     a `SearchRequest`: the scope, the canonical query, and the keys of the answer
proof     who the caller is and which revision is current: by the counters of the tenant, which are
          read once for all waiting requests, or by the search's own statement if that is likely
          to be the only one (`may_compute_first`)
tiers     memory, Redis, one of an extension, computing: `cache/answers.py` asks them in this order
record    in one log for the read log, the statistics and the metrics; the watchers of extensions

A request with a known head comes from `gateway/http/known_heads.py`, any other from a handler.
Calls that answer several searches at one revision begin at the tiers.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from cache.lookup import CacheLookup, ComputedAnswer, ServedAnswer
from cache.protocol import Revisions
from common.billing_context import bill_to
from gateway.auth.authenticated_request import AuthenticatedRequest
from gateway.auth.authenticator import Authenticator
from gateway.auth.freshness import Freshness
from gateway.http.request.request_context import RequestContext
from gateway.http.telemetry import Trace
from gateway.recording import shown
from gateway.recording.shown import ReadAs
from gateway.search.answer_keys import (
    AnswerKey,
    known_key,
    latest_key,
    older_keys,
    read_key,
)
from gateway.search.schemas.search_schemas import SearchBody
from gateway.search.search_request import SearchRequest, freshness_of
from gateway.search.search_services import SearchServices
from gateway.search.shown_facets import are_facets_visible
from index.errors import DatabaseUnavailable, VectorRefused


@dataclass(frozen=True, slots=True)
class AnsweredSearch:
    """An answer, the search that it answers, and the promise that it keeps."""

    request: SearchRequest
    answer: ServedAnswer
    consistency: bytes


async def search_as_caller(
    context: RequestContext[object], services: SearchServices, body: SearchBody
) -> AnsweredSearch:
    """The answer to the search, for the caller as it is by now."""
    return await serve(context, services, services.request_of(await context.identify(), body))


async def serve(
    context: RequestContext[object], services: SearchServices, request: SearchRequest
) -> AnsweredSearch:
    """The answer, for the caller's keys and groups as of now; a 422 `Problem` if refused."""
    trace, authenticator = context.trace, context.http.authenticator
    freshness = freshness_of(request.body, context.min_revision)
    # The rate limits may refuse a request whose tokens are not spent yet.
    if not trace.unspent and may_compute_first(services, authenticator, request, freshness):
        answered = await compute_first(services, authenticator, request, trace)
        if answered is not None:
            return answered
    admitted = await context.authenticate(request.principal, freshness)
    if admitted.principal is not request.principal:
        request = services.request_of(admitted.principal, request.body)
    services.require_answerable(request)
    trace.mark("revision")
    answer = recall(services, request, admitted)
    if answer is None:  # only an answer from memory may be as old as the caller allows
        revisions = admitted.revisions.of(request.scope.partitions)
        answer = await get_or_compute(services, request, revisions)
    record_served(services, request, answer, trace)
    return AnsweredSearch(request, answer, admitted.kept_promise(answer.valid_until))


def recall(
    services: SearchServices, search: SearchRequest, admitted: AuthenticatedRequest
) -> ServedAnswer | None:
    """The answer from memory, as old as the caller allows; nothing is read elsewhere."""
    for keyed in _acceptable_keys(services, search, admitted):
        served = services.answers.recall(keyed.key, keyed.revisions)
        if served is not None:
            return served
    return None


def is_recallable(
    services: SearchServices, search: SearchRequest, admitted: AuthenticatedRequest
) -> bool:
    """As `recall`, whether there is one; nothing is counted."""
    return any(
        services.answers.memory.find(keyed.key, keyed.revisions) is not None
        for keyed in _acceptable_keys(services, search, admitted)
    )


async def get_or_compute(
    services: SearchServices, search: SearchRequest, revisions: Revisions
) -> ServedAnswer:
    """An answer that is correct at `revisions`, of each partition of the scope.

    Raises `DatabaseUnavailable`.
    """
    keyed = await read_key(services.sights, search, revisions)
    lookup = await _cache_lookup(services, search, keyed)
    return await services.answers.get_or_compute(
        lookup,
        keyed.revisions,
        lambda: services.builder.compute(services.searcher, search.scope, search.query, revisions),
    )


def record_served(
    services: SearchServices,
    search: SearchRequest,
    served: ServedAnswer,
    trace: Trace | None = None,
) -> None:
    """Log an answer that a caller gets, and tell it to the watchers.

    trace: of the request, if it is for this answer alone.
    """
    duration_s = None if trace is None else time.perf_counter() - trace.started_s
    record = partial(_record, services, search, served, duration_s)
    if (shows := shown.CURRENT.get()) is None:  # a known head's response is sent at once
        record()
    else:
        record_shown(services, search, served)
        shows.records.append(record)
    if trace is not None:
        trace.tier = served.tier
        trace.mark("cache" if served.tier != "miss" else "search")
        if services.settings.log_queries:
            trace.query = search.query.text


def _record(
    services: SearchServices, search: SearchRequest, served: ServedAnswer, duration_s: float | None
) -> None:
    services.answer_log.add(
        search.principal, search.query, served, duration_s, is_question=not search.body.typing
    )
    for watch in services.watchers:
        watch(search, served)


def record_shown(
    services: SearchServices,
    search: SearchRequest,
    served: ServedAnswer,
    *,
    read_as: ReadAs | None = None,
) -> None:
    """What the response shows by this answer, to confirm it if the response is late.

    read_as: as of `Shown`.
    """
    if (shows := shown.CURRENT.get()) is not None:
        shows.answers.append((search.principal, served.body))
        shows.read_as = read_as
        if search.query.facets:
            statements = services.stores.database.searching
            facets = (statements, search.scope, search.query, served.body)
            shows.checks.append(partial(are_facets_visible, *facets))


def may_compute_first(
    services: SearchServices,
    authenticator: Authenticator,
    request: SearchRequest,
    freshness: Freshness,
) -> bool:
    """Whether the answer may be computed before its revision is read: its statement proves it."""
    return (
        # The caller is known at a history that was seen lately, and names no revision.
        authenticator.may_confirm_at(request.principal, freshness)
        and not request.asks_in_vain  # the tenant's choice of what to receive may refuse it
        and not request.is_compared  # another question's answer may serve it
        and not services.searcher.has_standby  # it may be behind
        and services.stores.database.is_watched  # another server would be noticed
        and _is_from_shards(services, request)  # computing takes no longer than Redis
        and not services.searcher.is_in_memory(request.scope, request.query)  # no statement
    )


async def compute_first(
    services: SearchServices, authenticator: Authenticator, search: SearchRequest, trace: Trace
) -> AnsweredSearch | None:
    """The answer, if its statement has read what the caller sees, and the caller is as it was.

    None if that is not so, if memory may have the answer, or if somebody else computes it.
    """
    keyed = latest_key(services.sights, search)
    if keyed is None:
        return None

    async def compute() -> ComputedAnswer | None:
        try:
            result = await services.searcher.search(search.scope, search.query)
        except (DatabaseUnavailable, VectorRefused):  # only a confirmed caller is told why
            return None
        if not authenticator.confirm_at(search.principal, result.history, result.access_revision):
            return None
        return await services.builder.build(result, search.scope, search.query)

    lookup = CacheLookup(search.scope.tenant, keyed.key, is_shared=False, own_key=keyed.own_key)
    served = await services.answers.compute_first(lookup, keyed.revisions, compute)
    if served is None:
        return None
    if served.key != keyed.key:
        # The next search reads what is seen now.
        outdated = keyed.revisions.audiences[search.scope.tenant]
        services.sights.forget(search.scope, outdated)
    record_served(services, search, served, trace)
    return AnsweredSearch(search, served, b"strong")


def _acceptable_keys(
    services: SearchServices, search: SearchRequest, admitted: AuthenticatedRequest
) -> Iterable[AnswerKey]:
    if admitted.oldest is admitted.revisions and admitted.age_s == 0:
        revisions = admitted.revisions.of(search.scope.partitions)
        keyed = known_key(services.sights, search, revisions)
        return () if keyed is None else (keyed,)
    oldest = admitted.oldest.of(search.scope.partitions)
    return older_keys(services.sights, search, oldest)


async def _cache_lookup(
    services: SearchServices, search: SearchRequest, keyed: AnswerKey
) -> CacheLookup:
    question = None
    if search.is_compared and services.question_tier is not None:
        group = search.group_of(keyed.sight)
        with bill_to(search.scope.tenant):
            question = await services.question_tier.question(group, search.query.text)
    is_shared = question is not None or not _is_from_shards(services, search)
    return CacheLookup(search.scope.tenant, keyed.key, question, is_shared, keyed.own_key)


def _is_from_shards(services: SearchServices, search: SearchRequest) -> bool:
    """Whether the answer takes less time to compute than to look up and store in Redis."""
    return search.query.postprocessing is None and services.searcher.answers_from_memory(
        search.scope, search.query
    )
