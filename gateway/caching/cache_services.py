"""The tiers of the answer cache, and what invalidates them."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from cache.answers import Answers
from cache.invalidation.drain import CountEvent, Invalidation
from cache.invalidation.local_registry import LocalInvalidation
from cache.invalidation.registry_replica import RegistryReplicas
from cache.redis.store import RedisStore
from cache.semantic.pair_stats import PairStats
from cache.semantic.semantic_tier import SemanticTier
from gateway.caching.change_feed import ChangeLogFeed
from gateway.caching.model_caches import ModelCaches
from gateway.caching.question_similarity import PairLedger, QuestionSimilarity
from gateway.monitoring.metrics import Metrics
from gateway.regions.standby import Standby
from gateway.settings.settings import Settings
from gateway.stores import Stores
from gateway.tracing.tracing import Tracing
from index.invalidation.changes import ChangeLog, ChangeSet
from index.invalidation.reverse_search import ReverseIndex
from index.tenants.semantic_counts import SemanticCountStore

# Of wrong answers to similar questions, for tenants that set none; a starting value.
SEMANTIC_ERROR_MAX = 0.01


@dataclass(frozen=True, slots=True)
class CacheServices:
    """new_answers: makes a cache of what else is made from chunks; its events are counted by names
        that begin with the given word, so that no hit rate of searches includes them.
    models: outputs of models for questions.
    """

    store: RedisStore
    answers: Answers
    new_answers: Callable[[str], Answers]
    invalidation: Invalidation[ChangeSet]
    similarity: QuestionSimilarity
    pair_stats: PairStats
    semantic_ledger: PairLedger
    models: ModelCaches


def build(
    settings: Settings,
    metrics: Metrics,
    stores: Stores,
    store: RedisStore,
    models: ModelCaches,
    index_name: str,
    standby: Standby | None,
    tracing: Tracing | None,
) -> CacheServices:
    """index_name: of the index version; semantic counts hold for one version only."""
    replicas = RegistryReplicas(store, ReverseIndex)
    feed = ChangeLogFeed(ChangeLog(stores.database), stores.tenants, standby)
    observe_drain = metrics.drain if tracing is None else tracing.observing_drains(metrics.drain)
    invalidation = Invalidation(store, replicas, feed, metrics.cache_event, observe_drain)
    local = LocalInvalidation(feed, ReverseIndex)
    similarity = QuestionSimilarity(settings.language)
    ledger = PairLedger(SemanticCountStore(stores.database), index_name, SEMANTIC_ERROR_MAX)
    pair_stats = PairStats(ledger, time.monotonic)
    semantic = SemanticTier(store, replicas, similarity, pair_stats)

    def answers(count: CountEvent) -> Answers:
        return Answers(settings.local_cache_bytes_max, store, invalidation, local, semantic, count)

    return CacheServices(
        store=store,
        answers=answers(metrics.cache_event),
        new_answers=lambda name: answers(_counting_as(name, metrics.cache_event)),
        invalidation=invalidation,
        similarity=similarity,
        pair_stats=pair_stats,
        semantic_ledger=ledger,
        models=models,
    )


def _counting_as(name: str, count: CountEvent) -> CountEvent:
    def count_event(event: str, amount: int = 1) -> None:
        count(event if event == "unavailable" else f"{name}_{event}", amount)

    return count_event
