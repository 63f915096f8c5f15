"""The project's own judge, guards and rules: what its semantic tier would say of two questions."""

import asyncio
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from cache.semantic import guards, similarity_buckets
from cache.semantic.guards import Features, Guard
from cache.semantic.similarity_buckets import BucketCounts
from index.embedders.static_embedder import StaticEmbedder
from index.text import language_detection, lexical

GUARDS = guards.GUARDS
EDGES = similarity_buckets.EDGES
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
    return similarity_buckets.is_wrong(served, real)


def bucket(similarity: float) -> int | None:
    return similarity_buckets.bucket_of(similarity)


def bound(verified: int, wrong: int) -> float:
    return similarity_buckets.error_upper_bound(BucketCounts(verified=verified, wrong=wrong))
