"""A process's cache that compares questions, and what it counted."""

import time
from collections.abc import Callable

import numpy as np

from cache.redis.store import RedisStore
from gateway.extensions.similar_questions.cached_question import CachedQuestion
from gateway.extensions.similar_questions.error_limit import PairCounts
from gateway.extensions.similar_questions.pair_stats import PairStats, TenantStats
from gateway.extensions.similar_questions.question_index import QuestionIndex
from gateway.extensions.similar_questions.similar_tier import SimilarTier
from index.errors import DatabaseUnavailable
from tests.cache.support.worker import CacheWorker, FakeChangeLog


class FakeSimilarity:
    """To whom questions are alike unless one of them holds a number."""

    async def question(self, group: str, text: str) -> CachedQuestion:
        return CachedQuestion(group, text, np.array([1, 0], dtype=np.float16))

    def may_share(self, cached: str, asked: str) -> bool:
        return cached.isalpha() and asked.isalpha()

    def hits(self, body: bytes) -> list[int]:
        """An answer's letters are its hits."""
        return list(body)


class FakePairStore:
    """Counts that other workers may share."""

    def __init__(self) -> None:
        self.error_max = 0.01
        self.counts = PairCounts()
        self.is_away = False

    async def read(self, _tenant: str) -> TenantStats:
        if self.is_away:
            raise DatabaseUnavailable
        return TenantStats(self.error_max, self.counts)

    async def set_error_max(self, _tenant: str, error_max: float | None) -> None:
        self.error_max = error_max or 0.01

    async def add(self, _tenant: str, counts: PairCounts) -> None:
        if self.is_away:
            raise DatabaseUnavailable
        self.counts += counts


class ComparingWorker(CacheWorker):
    def __init__(
        self,
        store: RedisStore,
        truth: FakeChangeLog,
        ledger: FakePairStore,
        clock_s: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = lambda: 1.0,
    ) -> None:
        self.stats = PairStats(ledger, clock_s)
        super().__init__(
            store,
            truth,
            new_questions=QuestionIndex,
            comparing=lambda replicas: SimilarTier(
                store, replicas, FakeSimilarity(), self.stats, self.count, chance=chance
            ),
        )

    async def end_background(self) -> None:
        """Wait for it, and for all counts."""
        await self.answers.drain_background()
        await self.stats.flush()
