"""The semantic tier: serves the answer of a similar question where measurements allow it.

A pair of questions must be very similar and pass the guards. Its answer is served only while the
tenant's measured error is within its limit: see `cache/semantic/error_limit.py`. Until then the
real answer is computed and served, which also shows whether the cached one would have been right.
A sample of the served pairs is verified in the background. The serve rule of `cache/protocol.py`
applies to every served answer.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cache import protocol
from cache.cached_question import CachedQuestion
from cache.invalidation.registry_replica import RegistryReplicas
from cache.protocol import Revisions
from cache.redis.store import CacheSnapshot, RedisStore
from cache.semantic import error_limit
from cache.semantic.error_limit import PairCounts
from cache.semantic.pair_stats import PairStats

_NEAREST_MAX = 8  # candidates; the first that passes the guards counts; a starting value


class AnswerJudge(Protocol):
    """Compares questions and answers."""

    def may_share(self, cached: str, question: str, /) -> bool:
        """Whether no guard objects to serving the cached question's answer."""

    def hits(self, body: bytes, /) -> Sequence[int]:
        """The ids of the chunks in an answer, best first."""


@dataclass(frozen=True, slots=True)
class SimilarAnswer:
    """The answer of a similar question, correct up to `valid_until`.

    is_open:    whether it may be served.
    is_sampled: whether it is verified in the background if it is served.
    """

    body: bytes
    valid_until: Revisions
    similarity: float
    is_open: bool
    is_sampled: bool


class SemanticTier:
    """chance: draws a number from 0 to 1, to sample served answers."""

    def __init__(
        self,
        store: RedisStore,
        replicas: RegistryReplicas[Any],
        judge: AnswerJudge,
        stats: PairStats,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._store = store
        self._replicas = replicas
        self._judge = judge
        self._stats = stats
        self._chance = chance

    async def find_similar(
        self, snapshot: CacheSnapshot, question: CachedQuestion, revisions: Revisions
    ) -> SimilarAnswer | None:
        """The answer of the nearest question that passes the guards, if correct at `revisions`.

        Raises `CacheUnavailable`.
        """
        if snapshot.state is None:
            return None
        replica = self._replicas.get(snapshot.tenant)
        if not await replica.refresh(snapshot, snapshot.state.nonce):
            return None
        vector = question.vector.astype(np.float32)
        for key, similarity, text in replica.questions.nearest(
            question.family, vector, _NEAREST_MAX
        ):
            if similarity < error_limit.SIMILARITY_MIN:
                return None
            if self._judge.may_share(text, question.text):
                return await self._right(snapshot.tenant, key, similarity, revisions)
        return None

    def record_served(self, tenant: str) -> None:
        """Count that a similar question's answer was served."""
        self._stats.add(tenant, PairCounts(served=1))

    def verify(self, tenant: str, similar: SimilarAnswer, real: bytes) -> None:
        """Count whether the similar question's answer agrees with the real one."""
        is_wrong = error_limit.is_wrong(self._judge.hits(similar.body), self._judge.hits(real))
        self._stats.add(tenant, PairCounts(verified=1, wrong=int(is_wrong)))

    async def drain_background(self) -> None:
        """Wait until all counts are written."""
        await self._stats.flush()

    async def _right(
        self, tenant: str, key: str, similarity: float, revisions: Revisions
    ) -> SimilarAnswer | None:
        snapshot = await self._store.lookup(tenant, revisions.history, key)
        state, entry = snapshot.state, snapshot.entry
        if state is None or entry is None:
            return None
        if not protocol.may_serve(state, entry.version, revisions):
            return None
        stats = self._stats.get(tenant)
        is_open = stats is not None and stats.missing_right == 0
        self._stats.add(tenant, PairCounts(seen=1))
        return SimilarAnswer(
            body=entry.body,
            valid_until=protocol.valid_until(state, entry.version, revisions),
            similarity=similarity,
            is_open=is_open,
            is_sampled=self._chance() < error_limit.VERIFIED_SHARE,
        )
