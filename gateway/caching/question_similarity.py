"""Compares questions and answers for the semantic cache, and stores its counts in PostgreSQL.

The built-in model embeds the questions, whatever model the index uses: it takes less time than a
call to Redis, and a hit needs no call of a hosted embedder.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import orjson

from cache.cached_question import CachedQuestion
from cache.errors import ChangeFeedUnavailable
from cache.semantic import guards, similarity_buckets
from cache.semantic.bucket_stats import TenantStats
from cache.semantic.guards import Features
from cache.semantic.similarity_buckets import BucketCounts
from index.embedders.static_embedder import StaticEmbedder
from index.errors import DatabaseUnavailable
from index.tenants.semantic_bucket_store import SemanticBucketStore, StoredBucketCounts
from index.text import language_detection, lexical

_FEATURES_MAX = 4_096  # questions whose features are cached; 8 MB
_STEMS_MAX = 65_536  # words whose stems are cached; 10 MB


class LanguageWords:
    """Words, stems and word frequencies, as the index uses them."""

    words = staticmethod(lexical.words)
    language = staticmethod(language_detection.detect_from_words)
    is_common = staticmethod(language_detection.is_common)
    stem = staticmethod(lru_cache(_STEMS_MAX)(lexical.stem))
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
        return [hit["chunk_id"] for hit in orjson.loads(body)["hits"]]

    def _load(self, language: str) -> None:
        lexical.load({language})
        self._loaded.add(language)
        self._embedder = self._embedder or StaticEmbedder()

    def _extract_features(self, text: str) -> Features:
        detected = language_detection.detect_from_words(lexical.words(text))
        language = detected if detected in self._loaded else self._default_language
        return guards.features(text, {language}, LanguageWords)


class BucketLedger:
    """Stores the counts in PostgreSQL, each under the index version that it belongs to.

    error_max: of tenants that set none. `read` and `add` raise `ChangeFeedUnavailable`.
    """

    def __init__(self, store: SemanticBucketStore, index_name: str, error_max: float) -> None:
        self._store = store
        self._generation = f"{index_name}/{similarity_buckets.RULES}"
        self._error_max = error_max

    async def read(self, tenant: str) -> TenantStats:
        try:
            stored = await self._store.read(tenant, self._generation)
        except DatabaseUnavailable as error:
            raise ChangeFeedUnavailable from error
        if stored is None:
            return TenantStats(self._error_max, {})
        error_max = self._error_max if stored.error_max is None else stored.error_max
        counts = {
            number: BucketCounts(bucket.seen, bucket.served, bucket.verified, bucket.wrong)
            for number, bucket in stored.buckets.items()
        }
        return TenantStats(error_max, counts)

    async def add(self, tenant: str, counts: Mapping[int, BucketCounts]) -> None:
        added = {
            number: StoredBucketCounts(bucket.seen, bucket.served, bucket.verified, bucket.wrong)
            for number, bucket in counts.items()
        }
        try:
            await self._store.add(
                tenant, self._generation, added, verified_max=similarity_buckets.VERIFIED_MAX
            )
        except DatabaseUnavailable as error:
            raise ChangeFeedUnavailable from error

    async def set_error_max(self, tenant: str, error_max: float | None) -> None:
        await self._store.set_error_max(tenant, error_max)
