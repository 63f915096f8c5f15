"""Reranks hits by their words, without a service: each of the query looks for its nearest in a hit.

The new score is 0.65 of the hit's score, plus 0.35 of the mean over the query's words of the square
of the largest cosine with a word of the hit's title and text. A word of the query counts by how
rare it is in the hit's language at large. Vectors are the built-in model's; each word takes in 0.3
of the vectors of its two neighbours.

Source: late interaction, Khattab and Zaharia, ColBERT, SIGIR 2020. The three numbers are the best
over four sets; docs/design/ranking.md#words-rerank has what they reach on others.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from math import log

import numpy as np
from numpy.typing import NDArray

from common.errors import Saturated
from common.shares.threads import FairThreads
from gateway.extension import PASSAGE_CHARACTERS_MAX, Order, RerankerUnavailable
from gateway.extensions.rag.first_scores import first_scores
from gateway.extensions.rag.word_vectors import WordVectors
from index.errors import EmbedderRefused
from index.model.query import Query
from index.search.hits import Hit
from index.text import lexical, tokens

SHARE, NEIGHBOURS = 0.35, 0.3
_QUERY_WORDS_MAX = 64  # the first ones; most questions have fewer
_DECIMALS = 6  # in which processors agree
_THREADS = 2  # starting values, not measured
_WAITING_MAX = 1_000  # of one tenant
_WAIT_S_MAX = 2.0


class WordReranker:
    """Its threads are shared by tenants; the model is loaded at the first use."""

    def __init__(self) -> None:
        self._threads = FairThreads(
            _THREADS, name="rerank-words", waiting_max=_WAITING_MAX, wait_s_max=_WAIT_S_MAX
        )

    async def order(self, tenant: str, query: Query, hits: Sequence[Hit]) -> Order:
        """All hits, best first, ties in their order. Raises `RerankerUnavailable`."""
        try:
            new_scores = await self._threads.run(tenant, scores, query, hits)
        except EmbedderRefused:
            raise RerankerUnavailable("error") from None
        except Saturated:
            raise RerankerUnavailable("deadline") from None
        ranked = sorted(enumerate(new_scores), key=lambda scored: -scored[1])
        return [*ranked]


def scores(query: Query, hits: Sequence[Hit]) -> list[float]:
    """The new score of each hit, in the order of the hits. Raises `EmbedderRefused`."""
    words = _words(query.text)[:_QUERY_WORDS_MAX]
    asked = _in_context(words)
    weights = {language: _weights(words, language) for language in {hit.language for hit in hits}}
    return [
        round((1 - SHARE) * score + SHARE * _likeness(asked, weights[hit.language], hit), _DECIMALS)
        for score, hit in zip(first_scores(query, hits), hits, strict=True)
    ]


def _likeness(asked: NDArray[np.float32], weights: NDArray[np.float32], hit: Hit) -> float:
    """Of one hit: the vectors of its words have 2 MB, and those of a hundred hits 200 MB."""
    held = _in_context(_words(f"{hit.title}\n{hit.text}"[:PASSAGE_CHARACTERS_MAX]))
    nearest = (asked @ held.T).max(axis=1).clip(0, 1)
    return float(weights @ nearest**2)


def _words(text: str) -> list[str]:
    """What stands between spaces, without marks around it, in its case; at least an empty one."""
    bare = (piece.strip(tokens.PUNCTUATION) for piece in text.split())
    return [word for word in bare if word] or [""]


def _weights(words: Sequence[str], language: str) -> NDArray[np.float32]:
    """What each word counts, 1 together: by its rarity, nothing if nearly every text has it."""
    chances = (lexical.query(word, [language]).chances for word in words)
    rarities = np.array([_rarity(of_word) for of_word in chances], np.float32)
    return rarities / (rarities.sum() or 1.0)


def _rarity(chances: Mapping[int, float]) -> float:
    return -log(min(chances.values(), default=1.0))


def _in_context(words: Sequence[str]) -> NDArray[np.float32]:
    """The unit vector of each word of a text with its neighbours."""
    alone = _word_vectors().of(words)
    vectors = alone.copy()
    vectors[1:] += NEIGHBOURS * alone[:-1]
    vectors[:-1] += NEIGHBOURS * alone[1:]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


@cache
def _word_vectors() -> WordVectors:
    return WordVectors()
