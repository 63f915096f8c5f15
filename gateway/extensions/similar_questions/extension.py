"""A search may get the cached answer of a similar question, where that was right often enough."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.extension import (
    ApiRoute,
    Extension,
    QuestionTierKind,
    Services,
    Settings,
    TierParts,
    body_limit,
    embedders,
)
from gateway.extensions.similar_questions import similar_endpoints
from gateway.extensions.similar_questions.pair_stats import PairStats
from gateway.extensions.similar_questions.pair_store import PairStore
from gateway.extensions.similar_questions.question_index import QuestionIndex
from gateway.extensions.similar_questions.question_similarity import QuestionSimilarity
from gateway.extensions.similar_questions.similar_schemas import SemanticAnswer, SemanticBody
from gateway.extensions.similar_questions.similar_settings import SimilarSettings
from gateway.extensions.similar_questions.similar_tier import TIER, SimilarTier

ERROR_MAX = 0.01  # of tenants that set none; a starting value
_CHEAP_EMBEDDERS = {"static", "test", "multilingual"}  # than comparing a question with others


def _make(parts: TierParts, settings: SimilarSettings) -> SimilarTier:
    return SimilarTier(
        parts.store,
        parts.replicas,
        QuestionSimilarity(parts.settings.language),
        PairStats(PairStore(parts.stores.database, parts.index_name, ERROR_MAX), time.monotonic),
        parts.count,
        compares_all=settings.searches == "all" or _has_costly_embedder(parts.settings),
    )


def _has_costly_embedder(settings: Settings) -> bool:
    kinds = map(embedders.kind, embedders.names(settings))
    return not _CHEAP_EMBEDDERS.issuperset(kinds)


@asynccontextmanager
async def _open(services: Services, _: SimilarSettings) -> AsyncIterator[PairStats]:
    tier = services.caches.question_tier
    assert isinstance(tier, SimilarTier), "this extension makes it"
    yield tier.stats


EXTENSION = Extension(
    summary="a search may get the cached answer of a similar question",
    routes=(
        ApiRoute(
            "GET",
            "/v1/cache/semantic",
            similar_endpoints.get_semantic,
            needs="admin",
            summary="Get the measured error of answers to similar questions",
            answer=SemanticAnswer,
        ),
        ApiRoute(
            "PUT",
            "/v1/cache/semantic",
            similar_endpoints.put_semantic,
            needs="admin",
            summary="Set the maximum share of wrong answers to similar questions",
            body=SemanticBody,
            body_bytes_max=body_limit(1_024),
            answer=SemanticAnswer,
        ),
    ),
    open=_open,
    settings=SimilarSettings,
    question_tier=QuestionTierKind(TIER, QuestionIndex, _make),
)
