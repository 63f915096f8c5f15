"""How the semantic cache compares questions and answers, and where it keeps its counts.

Similarity is judged by the built-in model, whatever the index uses: it costs less than a look at
Redis, and spares the hosted embedding too.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import orjson

from cache.cached_question import CachedQuestion
from cache.errors import ChangeFeedUnavailable
from cache.semantic import function_words, guards, similarity_buckets
from cache.semantic.bucket_stats import TenantStats
from cache.semantic.guards import Features
from cache.semantic.similarity_buckets import BucketCounts
from index.embedders.static_embedder import StaticEmbedder
from index.errors import DatabaseUnavailable
from index.tenants.semantic_bucket_store import BandCounts, SemanticBucketStore
from index.text import lexical

_REMEMBERED_MAX = 4_096  # questions as the guards read them; 8 MB
_WORDS_MAX = 65_536  # of which the same ones come again and again; 10 MB


class LanguageWords:
    """The words of a language, as the index knows them."""

    words = staticmethod(lexical.words)
    stem = staticmethod(lru_cache(_WORDS_MAX)(lexical.stem))
    share = staticmethod(lexical.word_share)


class QuestionSimilarity:
    """default_language: of questions that don't say theirs.

    The model and the word lists are loaded with the first question that asks for them.
    """

    def __init__(self, default_language: str) -> None:
        self._default_language = lexical.base_language(default_language)
        self._loaded: set[str] = set()
        self._embedder: StaticEmbedder | None = None
        self._loading = asyncio.Lock()
        self._features = lru_cache(_REMEMBERED_MAX)(self._read)

    async def question(self, family: str, text: str) -> CachedQuestion:
        language = function_words.language(lexical.words(text)) or self._default_language
        if self._embedder is None or language not in self._loaded:
            async with self._loading:
                await asyncio.to_thread(self._load, language)
        assert self._embedder is not None
        vector = await self._embedder.embed_query(text)
        return CachedQuestion(family, text, vector.astype(np.float16))

    def may_share(self, cached: str, asked: str) -> bool:
        return guards.may_share(self._features(cached), self._features(asked))

    def hits(self, body: bytes) -> Sequence[int]:
        return [hit["chunk_id"] for hit in orjson.loads(body)["hits"]]

    def _load(self, language: str) -> None:
        lexical.load({language})
        self._loaded.add(language)
        self._embedder = self._embedder or StaticEmbedder()

    def _read(self, text: str) -> Features:
        spoken = function_words.language(lexical.words(text))
        language = spoken if spoken in self._loaded else self._default_language
        return guards.features(text, {language}, LanguageWords)


class BucketLedger:
    """The counts in PostgreSQL, under the generation that they were counted in."""

    def __init__(self, kept: SemanticBucketStore, generation: str, error_max: float) -> None:
        self._bands = kept
        self._generation = f"{generation}/{similarity_buckets.RULES}"
        self._error_max = error_max

    async def read(self, tenant: str) -> TenantStats:
        try:
            known = await self._bands.read(tenant, self._generation)
        except DatabaseUnavailable as away:
            raise ChangeFeedUnavailable from away
        if known is None:
            return TenantStats(self._error_max, {})
        error_max = self._error_max if known.error_max is None else known.error_max
        counts = {
            number: BucketCounts(kept.seen, kept.served, kept.verified, kept.wrong)
            for number, kept in known.bands.items()
        }
        return TenantStats(error_max, counts)

    async def add(self, tenant: str, counts: Mapping[int, BucketCounts]) -> None:
        added = {
            number: BandCounts(one.seen, one.served, one.verified, one.wrong)
            for number, one in counts.items()
        }
        try:
            await self._bands.add(
                tenant, self._generation, added, verified_max=similarity_buckets.VERIFIED_MAX
            )
        except DatabaseUnavailable as away:
            raise ChangeFeedUnavailable from away

    async def set_error_max(self, tenant: str, error_max: float | None) -> None:
        await self._bands.set_error_max(tenant, error_max)
