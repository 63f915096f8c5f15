"""The semantic tier: the answer of a similar question, where that has been shown to be right.

A pair of questions must pass the guards and lie in a band of similarity. A band is open only while
the upper bound of its measured error is under the tenant's limit. A pair in a shut band is not
served, but what is computed instead tells whether it would have been right; of those served, a
sample is computed in the background. What is served obeys the rule that all answers obey.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cache import protocol
from cache.protocol import Revisions
from cache.redis.store import CacheSnapshot, RedisStore
from cache.registry_replica import RegistryReplicas
from cache.semantic import similarity_buckets
from cache.semantic.bucket_stats import BucketStats
from cache.semantic.cached_question import CachedQuestion
from cache.semantic.similarity_buckets import BucketCounts

_NEAREST_MAX = 8  # of which the first that passes the guards counts; a starting value, not measured


class AnswerJudge(Protocol):
    """Says how questions and answers compare."""

    def may_share(self, cached: str, asked: str, /) -> bool:
        """Whether no guard objects to giving the answer of the one to the other."""

    def hits(self, body: bytes, /) -> Sequence[int]:
        """The chunks that an answer shows, best first."""


@dataclass(frozen=True, slots=True)
class SimilarAnswer:
    """The answer of a similar question, right at these revisions.

    is_open:    whether it may be served.
    is_sampled: whether its own answer is to be computed too.
    """

    body: bytes
    valid_until: Revisions
    similarity: float
    bucket: int
    is_open: bool
    is_sampled: bool


class SemanticTier:
    """chance: from 0 to 1, drawn to sample what is served."""

    def __init__(
        self,
        store: RedisStore,
        mirrors: RegistryReplicas[Any],
        judge: AnswerJudge,
        tallies: BucketStats,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._store = store
        self._mirrors = mirrors
        self._judge = judge
        self._tallies = tallies
        self._chance = chance

    async def find_similar(
        self, sight: CacheSnapshot, question: CachedQuestion, revisions: Revisions
    ) -> SimilarAnswer | None:
        """The nearest question's answer that passes the guards and is right at `revisions`.

        sight: of the tenant's cache, with a state. Raises `CacheUnavailable`.
        """
        if sight.state is None:
            return None
        mirror = self._mirrors.get(sight.home)
        if not await mirror.refresh(sight, sight.state.nonce):
            return None
        vector = question.vector.astype(np.float32)
        for key, similarity, text in mirror.questions.nearest(
            question.family, vector, _NEAREST_MAX
        ):
            band = similarity_buckets.bucket_of(similarity)
            if band is None:
                return None
            if self._judge.may_share(text, question.text):
                return await self._right(sight.home, key, similarity, band, revisions)
        return None

    def record_served(self, home: str, similar: SimilarAnswer) -> None:
        """Count that the similar question's answer was given."""
        self._tallies.add(home, similar.bucket, BucketCounts(served=1))

    def verify(self, home: str, similar: SimilarAnswer, real: bytes) -> bool:
        """Count whether the similar question's answer was right, now that the real one is known."""
        wrong = similarity_buckets.is_wrong(self._judge.hits(similar.body), self._judge.hits(real))
        self._tallies.add(home, similar.bucket, BucketCounts(verified=1, wrong=int(wrong)))
        return not wrong

    async def drain_background(self) -> None:
        """Once all counts are written down."""
        await self._tallies.flush()

    async def _right(
        self, home: str, key: str, similarity: float, band: int, revisions: Revisions
    ) -> SimilarAnswer | None:
        sight = await self._store.lookup(home, revisions.history, key)
        state, entry = sight.state, sight.entry
        if state is None or entry is None:
            return None
        if not protocol.may_serve(state, entry.version, revisions):
            return None
        account = self._tallies.get(home)
        counts = BucketCounts() if account is None else account.counts.get(band, BucketCounts())
        error_max = 0.0 if account is None else account.error_max
        self._tallies.add(home, band, BucketCounts(seen=1))
        share = similarity_buckets.sample_share(counts, error_max)
        return SimilarAnswer(
            body=entry.body,
            valid_until=protocol.valid_until(state, entry.version, revisions),
            similarity=similarity,
            bucket=band,
            is_open=similarity_buckets.is_open(counts, error_max),
            is_sampled=self._chance() < share,
        )
