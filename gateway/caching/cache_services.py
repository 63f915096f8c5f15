"""The tiers of the answer cache, and what invalidates them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from cache.answers import Answers
from cache.invalidation.drain import ChangeFeed, CountEvent, Invalidation
from cache.invalidation.local_registry import LocalInvalidation
from cache.invalidation.registry_replica import RegistryReplicas
from cache.redis.store import RedisStore
from gateway.caching.change_feed import ChangeLogFeed
from gateway.caching.model_caches import ModelCaches
from gateway.caching.question_tier import ConfiguredQuestionTier, QuestionTier, TierParts
from gateway.caching.region import Region
from gateway.monitoring.metrics import Metrics
from gateway.monitoring.tracing import Tracing
from gateway.settings.settings import Settings
from gateway.stores import Stores
from index.invalidation.changes import ChangeLog, ChangeSet
from index.invalidation.reverse_search import ReverseIndex


@dataclass(frozen=True, slots=True)
class CacheServices:
    """new_answers: makes a cache of what else is made from chunks; its events are counted by names
        that begin with the given word, so that no hit rate of searches includes them.
    models: outputs of models for questions. question_tier: None if no extension brings one.
    """

    store: RedisStore
    answers: Answers
    new_answers: Callable[[str], Answers]
    invalidation: Invalidation[ChangeSet]
    models: ModelCaches
    question_tier: QuestionTier | None


def build(
    settings: Settings,
    metrics: Metrics,
    stores: Stores,
    store: RedisStore,
    models: ModelCaches,
    index_name: str,
    region: Region | None,
    tracing: Tracing | None,
    brought: ConfiguredQuestionTier | None,
) -> CacheServices:
    """brought: by an extension; index_name: of the index version, for it."""
    replicas = RegistryReplicas(
        store, ReverseIndex, None if brought is None else brought.kind.new_index
    )
    feed: ChangeFeed[ChangeSet] = ChangeLogFeed(ChangeLog(stores.database), stores.tenants)
    if region is not None and region.standby is not None:
        feed = region.standby.change_feed(feed)
    observe_drain = metrics.drain if tracing is None else tracing.observing_drains(metrics.drain)
    invalidation = Invalidation(store, replicas, feed, metrics.cache_event, observe_drain)
    local = LocalInvalidation(feed, ReverseIndex)
    tier = None
    if brought is not None:
        metrics.cache_tiers.add(brought.kind.name)
        parts = TierParts(settings, stores, store, replicas, index_name, metrics.cache_event)
        tier = brought.kind.make(parts, brought.own)
    new_answers = partial(Answers, settings.local_cache_bytes_max, store, invalidation, local)
    return CacheServices(
        store=store,
        answers=new_answers(metrics.cache_event, tier),
        new_answers=lambda name: new_answers(_counting_as(name, metrics.cache_event)),
        invalidation=invalidation,
        models=models,
        question_tier=tier,
    )


def _counting_as(name: str, count: CountEvent) -> CountEvent:
    def count_event(event: str, amount: int = 1) -> None:
        count(event if event == "unavailable" else f"{name}_{event}", amount)

    return count_event
