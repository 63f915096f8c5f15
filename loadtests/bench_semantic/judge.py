"""The project's own judge, guards and rules: what its semantic tier would say of two questions."""

import asyncio
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from cache.semantic import error_limit, guards
from cache.semantic.error_limit import PairCounts
from cache.semantic.guards import Features, Guard
from index.embedders.static_embedder import StaticEmbedder
from index.text import language_detection, lexical

GUARDS = guards.GUARDS
SIMILARITY_MIN = error_limit.SIMILARITY_MIN
LIMIT = 0.01


class _GatewayLexicon:
    """As the gateway wires it."""

    words = staticmethod(lexical.words)
    language = staticmethod(language_detection.detect_from_words)
    is_common = staticmethod(language_detection.is_common)
    stem = staticmethod(lru_cache(65_536)(lexical.stem))
    share = staticmethod(lru_cache(65_536)(lexical.word_share))


class SimilarityJudge:
    """Of the questions that one tenant asks, which has documents in one language."""

    def __init__(self, language: str) -> None:
        self._languages = [language]
        self._embedder = StaticEmbedder()
        self._features = lru_cache(None)(self._read)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a text; as halves and back, for that is how they are kept."""
        vectors = [
            asyncio.run(self._embedder.embed_passages(texts[at : at + 500]))
            for at in range(0, len(texts), 500)
        ]
        return np.vstack(vectors).astype(np.float16).astype(np.float32)

    def objections(self, cached: str, asked: str) -> frozenset[Guard]:
        return guards.objections(self._features(cached), self._features(asked))

    def _read(self, text: str) -> Features:
        return guards.features(text, self._languages, _GatewayLexicon())


def is_wrong(served: Sequence[int], real: Sequence[int]) -> bool:
    return error_limit.is_wrong(served, real)


class TierModel:
    """Counts as the tier does for one tenant, and says whether it serves."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._counts = PairCounts()

    @property
    def is_open(self) -> bool:
        return error_limit.missing_right(self._counts, self._limit) == 0

    @property
    def verified_share(self) -> float:
        return error_limit.VERIFIED_SHARE if self.is_open else 1.0

    def verify(self, *, is_wrong: bool) -> None:
        verified, wrong = self._counts.verified + 1, self._counts.wrong + is_wrong
        if verified * self._limit >= error_limit.EVIDENCE_MAX:  # as the store does it
            verified, wrong = verified // 2, (wrong + 1) // 2
        self._counts = PairCounts(verified=verified, wrong=wrong)
