"""Compares questions and answers for the semantic cache, and stores its counts in PostgreSQL.

The built-in model embeds the questions, whatever model the index uses: it takes less time than a
call to Redis, and a hit needs no call of a hosted embedder.
"""

import asyncio
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from cache.cached_question import CachedQuestion
from cache.errors import ChangeFeedUnavailable
from cache.semantic import error_limit, guards
from cache.semantic.error_limit import PairCounts
from cache.semantic.guards import Features
from cache.semantic.pair_stats import TenantStats
from gateway.answer_codec import chunk_ids
from index.embedders.static_embedder import StaticEmbedder
from index.errors import DatabaseUnavailable
from index.tenants.semantic_counts import SemanticCountStore
from index.text import language_detection, lexical

_FEATURES_MAX = 4_096  # questions whose features are cached; 8 MB


class LanguageWords:
    """Words, stems and word frequencies, as the index uses them."""

    words = staticmethod(lexical.words)
    language = staticmethod(language_detection.detect_from_words)
    is_common = staticmethod(language_detection.is_common)
    stem = staticmethod(lexical.stem)
    share = staticmethod(lexical.word_share)


class QuestionSimilarity:
    """default_language: of questions whose language their words do not show.

    The first question that needs the model and its language's word lists loads them.
    """

    def __init__(self, default_language: str) -> None:
        self._default_language = lexical.base_language(default_language)
        self._loaded: set[str] = set()
        self._embedder: StaticEmbedder | None = None
        self._loading = asyncio.Lock()
        self._features = lru_cache(_FEATURES_MAX)(self._extract_features)

    async def question(self, group: str, text: str) -> CachedQuestion:
        language = (
            language_detection.detect_from_words(lexical.words(text)) or self._default_language
        )
        if self._embedder is None or language not in self._loaded:
            async with self._loading:
                await asyncio.to_thread(self._load, language)
        assert self._embedder is not None
        vector = await self._embedder.embed_query(text)
        return CachedQuestion(group, text, vector.astype(np.float16))

    def may_share(self, cached: str, question: str) -> bool:
        return guards.may_share(self._features(cached), self._features(question))

    def hits(self, body: bytes) -> Sequence[int]:
        return chunk_ids(body)

    def _load(self, language: str) -> None:
        lexical.load({language})
        self._loaded.add(language)
        self._embedder = self._embedder or StaticEmbedder()

    def _extract_features(self, text: str) -> Features:
        detected = language_detection.detect_from_words(lexical.words(text))
        language = detected if detected in self._loaded else self._default_language
        return guards.features(text, {language}, LanguageWords)


class PairLedger:
    """Stores the counts in PostgreSQL, each under the index version that it belongs to.

    error_max: of tenants that set none. `read` and `add` raise `ChangeFeedUnavailable`.
    """

    def __init__(self, store: SemanticCountStore, index_name: str, error_max: float) -> None:
        self._store = store
        self._generation = f"{index_name}/{error_limit.RULES}"
        self._error_max = error_max

    async def read(self, tenant: str) -> TenantStats:
        try:
            row = await self._store.read(tenant, self._generation)
        except DatabaseUnavailable as error:
            raise ChangeFeedUnavailable from error
        if row is None:
            return TenantStats(self._error_max, PairCounts())
        counts = PairCounts(row.seen, row.served, row.verified, row.wrong)
        return TenantStats(row.error_max or self._error_max, counts)

    async def add(self, tenant: str, counts: PairCounts) -> None:
        try:
            await self._store.add(
                tenant,
                self._generation,
                seen=counts.seen,
                served=counts.served,
                verified=counts.verified,
                wrong=counts.wrong,
                error_max=self._error_max,
                evidence_max=error_limit.EVIDENCE_MAX,
            )
        except DatabaseUnavailable as error:
            raise ChangeFeedUnavailable from error

    async def set_error_max(self, tenant: str, error_max: float | None) -> None:
        await self._store.set_error_max(tenant, error_max)
