"""The semantic tier: serves the answer of a similar question where measurements allow it.

A pair of questions must pass the guards and fall into a similarity bucket. A bucket is open only
while the upper bound of its measured error is under the tenant's limit. For a pair in a closed
bucket the real answer is computed and served, which also shows whether the cached one would have
been right. A sample of the served pairs is verified in the background. The serve rule of
`cache/protocol.py` applies to every served answer.
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
from cache.semantic import similarity_buckets
from cache.semantic.bucket_stats import BucketStats
from cache.semantic.similarity_buckets import BucketCounts

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
    is_sampled: whether the real answer must be computed too.
    """

    body: bytes
    valid_until: Revisions
    similarity: float
    bucket: int
    is_open: bool
    is_sampled: bool


class SemanticTier:
    """chance: draws a number from 0 to 1, to sample served answers."""

    def __init__(
        self,
        store: RedisStore,
        replicas: RegistryReplicas[Any],
        judge: AnswerJudge,
        stats: BucketStats,
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
            bucket = similarity_buckets.bucket_of(similarity)
            if bucket is None:
                return None
            if self._judge.may_share(text, question.text):
                return await self._right(snapshot.tenant, key, similarity, bucket, revisions)
        return None

    def record_served(self, tenant: str, similar: SimilarAnswer) -> None:
        """Count that the similar question's answer was served."""
        self._stats.add(tenant, similar.bucket, BucketCounts(served=1))

    def verify(self, tenant: str, similar: SimilarAnswer, real: bytes) -> bool:
        """Count and return whether the similar question's answer agrees with the real one."""
        is_wrong = similarity_buckets.is_wrong(
            self._judge.hits(similar.body), self._judge.hits(real)
        )
        self._stats.add(tenant, similar.bucket, BucketCounts(verified=1, wrong=int(is_wrong)))
        return not is_wrong

    async def drain_background(self) -> None:
        """Wait until all counts are written."""
        await self._stats.flush()

    async def _right(
        self, tenant: str, key: str, similarity: float, bucket: int, revisions: Revisions
    ) -> SimilarAnswer | None:
        snapshot = await self._store.lookup(tenant, revisions.history, key)
        state, entry = snapshot.state, snapshot.entry
        if state is None or entry is None:
            return None
        if not protocol.may_serve(state, entry.version, revisions):
            return None
        stats = self._stats.get(tenant)
        counts = BucketCounts() if stats is None else stats.counts.get(bucket, BucketCounts())
        error_max = 0.0 if stats is None else stats.error_max
        self._stats.add(tenant, bucket, BucketCounts(seen=1))
        share = similarity_buckets.sample_share(counts, error_max)
        return SimilarAnswer(
            body=entry.body,
            valid_until=protocol.valid_until(state, entry.version, revisions),
            similarity=similarity,
            bucket=bucket,
            is_open=similarity_buckets.is_open(counts, error_max),
            is_sampled=self._chance() < share,
        )
