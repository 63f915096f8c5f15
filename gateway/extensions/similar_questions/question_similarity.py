"""Compares questions and answers.

The built-in model embeds the questions, whatever model the index uses: it takes less time than a
call to Redis, and a hit needs no call of a hosted embedder.
"""

import asyncio
from functools import lru_cache

import numpy as np

from gateway.extension import chunk_ids
from gateway.extensions.similar_questions import guards
from gateway.extensions.similar_questions.cached_question import CachedQuestion
from gateway.extensions.similar_questions.guards import Features
from index.embedders.static_embedder import StaticEmbedder
from index.text import language_detection, lexical
from index.text.word_lists import analysed_languages

_FEATURES_MAX = 4_096  # questions whose features are cached; 8 MB


class QuestionSimilarity:
    """default_language: of questions whose language their words do not show.

    The first question that needs the model and its language's word lists loads them.
    """

    def __init__(self, default_language: str) -> None:
        self._default_language = analysed_languages.base_language(default_language)
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

    hits = staticmethod(chunk_ids)

    def may_share(self, cached: str, question: str) -> bool:
        return guards.may_share(self._features(cached), self._features(question))

    def _load(self, language: str) -> None:
        analysed_languages.load({language})
        self._loaded.add(language)
        self._embedder = self._embedder or StaticEmbedder()

    def _extract_features(self, text: str) -> Features:
        detected = language_detection.detect_from_words(lexical.words(text))
        language = detected if detected in self._loaded else self._default_language
        return guards.features(text, {language})
