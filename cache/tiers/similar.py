"""The third tier: the answer of a similar question, where measurements allow it."""

from collections.abc import Callable

from cache.errors import CacheUnavailable
from cache.invalidation.drain import CountEvent
from cache.lookup import ServedAnswer
from cache.semantic.semantic_tier import SemanticTier, SimilarAnswer
from cache.tiers.tier import LookupRun


class SimilarTier:
    """recompute: computes and keeps the run's answer in the background, if there is room."""

    def __init__(
        self, semantic: SemanticTier, count: CountEvent, recompute: Callable[[LookupRun], None]
    ) -> None:
        self._semantic = semantic
        self._count = count
        self._recompute = recompute

    async def look(self, run: LookupRun) -> ServedAnswer | None:
        """The answer, if it may be served; a sample of them is verified in the background."""
        lookup = run.lookup
        run.similar = similar = await self._find(run)
        if similar is None or not similar.is_open:
            return None
        self._semantic.record_served(lookup.tenant)
        if similar.is_sampled:
            self._recompute(run)
        return ServedAnswer(
            similar.body, similar.valid_until, "semantic", lookup.key, similarity=similar.similarity
        )

    async def keep(self, run: LookupRun, served: ServedAnswer) -> ServedAnswer:
        """Count whether the similar answer was right, if both are correct at equal revisions."""
        similar = run.similar
        if similar is not None and served.is_complete and served.valid_until == similar.valid_until:
            self._semantic.verify(run.lookup.tenant, similar, served.body)
        return served

    async def _find(self, run: LookupRun) -> SimilarAnswer | None:
        question = run.lookup.question
        if question is None or run.snapshot is None:
            return None
        try:
            return await self._semantic.find_similar(run.snapshot, question, run.revisions)
        except CacheUnavailable:
            self._count("unavailable")
            return None
