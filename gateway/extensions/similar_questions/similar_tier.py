"""The tier: serves the answer of a similar question where measurements allow it.

A pair of questions must be very similar and pass the guards. Its answer is served only while the
tenant's measured error is within its limit: see `error_limit.py`. Until then the real answer is
computed and served, which also shows whether the cached one would have been right. A sample of the
served pairs is verified in the background. The serve rule of `cache/protocol.py` applies to every
served answer.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cache import protocol
from cache.errors import CacheUnavailable
from cache.invalidation.drain import CountEvent
from cache.invalidation.registry_replica import RegistryReplicas
from cache.lookup import ServedAnswer
from cache.protocol import Revisions
from cache.redis.store import CacheSnapshot, RedisStore
from cache.tiers.tier import LookupRun
from gateway.extensions.similar_questions import error_limit
from gateway.extensions.similar_questions.cached_question import CachedQuestion
from gateway.extensions.similar_questions.error_limit import PairCounts
from gateway.extensions.similar_questions.pair_stats import PairStats
from gateway.extensions.similar_questions.question_index import QuestionIndex
from index.model.query import Query

TIER = "semantic"
_NEAREST_MAX = 8  # candidates; the first that passes the guards counts; a starting value


class Similarity(Protocol):
    """Compares questions and answers."""

    async def question(self, group: str, text: str, /) -> CachedQuestion: ...

    def may_share(self, cached: str, question: str, /) -> bool:
        """Whether no guard objects to serving the cached question's answer."""

    def hits(self, body: bytes, /) -> Sequence[int]:
        """The ids of the chunks in an answer, best first."""


@dataclass(frozen=True, slots=True)
class SimilarAnswer:
    """The answer of a similar question, correct up to `valid_until`."""

    body: bytes
    valid_until: Revisions
    similarity: float


class SimilarTier:
    """compares_all: also searches that no service and no language model reranks.

    chance: draws a number from 0 to 1, to sample served answers.
    """

    def __init__(
        self,
        store: RedisStore,
        replicas: RegistryReplicas[Any],
        similarity: Similarity,
        stats: PairStats,
        count: CountEvent,
        *,
        compares_all: bool = False,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.stats = stats
        self.question = similarity.question
        self._store = store
        self._replicas = replicas
        self._similarity = similarity
        self._count = count
        self._compares_all = compares_all
        self._chance = chance

    def compares(self, query: Query) -> bool:
        """A compressed context holds what fits one question; comparing hits would not judge that.

        Whether questions are similar is judged by their texts, which say nothing of an own vector.
        """
        if query.vector is not None:
            return False
        processing = query.postprocessing
        if processing is None:
            return self._compares_all
        is_costly = self._compares_all or processing.has_costly_ranker
        return processing.compressor is None and is_costly

    async def look(self, run: LookupRun) -> ServedAnswer | None:
        """The answer, if it may be served; a sample of them is verified in the background."""
        tenant = run.lookup.tenant
        try:
            run.found = found = await self._find(run)
        except CacheUnavailable:
            self._count("unavailable")
            return None
        if found is None:
            return None
        stats = self.stats.get(tenant)
        self.stats.add(tenant, PairCounts(seen=1))
        if stats is None or stats.missing_right:
            return None
        self.stats.add(tenant, PairCounts(served=1))
        run.is_sampled = self._chance() < error_limit.VERIFIED_SHARE
        detail = f"{TIER} {found.similarity:.3f}"
        return ServedAnswer(found.body, found.valid_until, TIER, run.lookup.key, detail=detail)

    async def keep(self, run: LookupRun, served: ServedAnswer) -> ServedAnswer:
        """Count whether the similar answer was right, if both are correct at equal revisions."""
        found = run.found
        if found is not None and served.is_complete and served.valid_until == found.valid_until:
            hits = self._similarity.hits
            is_wrong = error_limit.is_wrong(hits(found.body), hits(served.body))
            self.stats.add(run.lookup.tenant, PairCounts(verified=1, wrong=int(is_wrong)))
        return served

    async def drain_background(self) -> None:
        """Wait until all counts are written."""
        await self.stats.flush()

    async def _find(self, run: LookupRun) -> SimilarAnswer | None:
        """The answer of the nearest question that passes the guards, if it is correct.

        Raises `CacheUnavailable`.
        """
        question, snapshot = run.lookup.question, run.snapshot
        if snapshot is None or snapshot.state is None:
            return None
        replica = self._replicas.get(snapshot.tenant)
        if not await replica.refresh(snapshot, snapshot.state.nonce):
            return None
        assert isinstance(question, CachedQuestion), "this tier makes them"
        assert isinstance(replica.questions, QuestionIndex), "and what holds them"
        vector = question.vector.astype(np.float32)
        for key, similarity, text in replica.questions.nearest(
            question.family, vector, _NEAREST_MAX
        ):
            if similarity < error_limit.SIMILARITY_MIN:
                return None
            if self._similarity.may_share(text, question.text):
                found = await self._store.lookup(snapshot.tenant, run.revisions.history, key)
                return _correct(found, similarity, run.revisions)
        return None


def _correct(
    snapshot: CacheSnapshot, similarity: float, revisions: Revisions
) -> SimilarAnswer | None:
    """The entry of the snapshot, if it is correct at `revisions`."""
    state, entry = snapshot.state, snapshot.entry
    if state is None or entry is None or not protocol.may_serve(state, entry.version, revisions):
        return None
    valid_until = protocol.valid_until(state, entry.version, revisions)
    return SimilarAnswer(entry.body, valid_until, similarity)
