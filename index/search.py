"""The search itself: embed, look, fuse; nothing outside the scope is ever read."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from index import fusion, hits, spelling, strategy
from index.database import Database
from index.errors import EmbeddingUnavailable
from index.fusion import Fused
from index.hits import Hit
from index.passes import Asked, Legs, Passes, Question
from index.query import Query
from index.scope import Scope
from index.strategy import Limits

EMBEDDING_BUDGET_S = 2.0  # a starting value, not measured; past it words alone have to do


class Embedder(Protocol):
    """Texts to unit vectors; models may tell questions and passages apart.

    space:           names what vectors can be compared with each other; another model, another one.
    alpha:           how much its similarities count in a fusion that isn't told.
    tokens_max:      of a text; what comes after does not count, or is refused.
    batch_texts_max: how many passages are worth a call; more take longer, and fail together.

    Vectors have the shapes (dimensions,) and (texts, dimensions). Raises `EmbeddingUnavailable`.
    """

    @property
    def space(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    @property
    def alpha(self) -> float: ...
    @property
    def tokens_max(self) -> int: ...
    @property
    def batch_texts_max(self) -> int: ...
    async def embed_query(self, text: str) -> NDArray[np.float32]: ...
    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


@dataclass(frozen=True, slots=True)
class Found:
    """The hits, best first, and the revision of each partition that they were found at.

    corrections: what unknown words of the query were taken for, as far as the hits show.
    degraded: the embedder was away, so the lexical leg answered alone.
    """

    hits: tuple[Hit, ...]
    as_of: Mapping[str, int]
    corrections: Mapping[str, Sequence[str]]
    degraded: bool


class Searcher:
    """Searches in the space of whoever asks; `embedders` are those of this process.

    The first one embeds for an index that has no space yet.
    """

    def __init__(
        self, database: Database, *embedders: Embedder, limits: Limits = strategy.MEASURED
    ) -> None:
        self._passes = Passes(database, limits=limits)
        self._first = embedders[0].space
        self._embedders = {embedder.space: embedder for embedder in embedders}

    async def search(self, scope: Scope, query: Query) -> Found:
        """Raises `DatabaseUnavailable`."""
        asked: dict[str, Asked] = {}

        async def ask(space: str | None) -> Asked:
            name = space or self._first
            if name not in asked:
                asked[name] = await self._asked(query, name)
            return asked[name]

        # What most answers show; and then, should many candidates be one text, what any may show.
        for shown in (_likely(query), 2 * query.candidates):
            legs = await self._passes.legs(Question(scope, query, shown, ask))
            picked = hits.pick(query, _fuse(query, legs), legs.shown)
            if picked is not None:
                return Found(
                    hits=tuple(picked),
                    as_of=legs.revisions,
                    corrections=spelling.evident(legs.corrections, [hit.text for hit in picked]),
                    degraded=legs.asked.dense is None,
                )
        raise AssertionError("every candidate was shown")

    async def _asked(self, query: Query, space: str) -> Asked:
        """The query in the space; without its embedder words alone decide, on the whole scale."""
        embedder = self._embedders.get(space)
        dense = None if embedder is None else await _embedded(embedder, query.text)
        if embedder is None or dense is None:
            return Asked(space, None, 0.0)
        return Asked(space, dense, embedder.alpha if query.alpha is None else query.alpha)


async def _embedded(embedder: Embedder, text: str) -> HalfVector | None:
    try:
        async with asyncio.timeout(EMBEDDING_BUDGET_S):
            return HalfVector(await embedder.embed_query(text))
    except (EmbeddingUnavailable, TimeoutError):
        return None


def _likely(query: Query) -> int:
    """How many of the likeliest hits to read: the guess is made as `relative` fuses."""
    return 2 * query.top_k if query.fusion == "relative" else 2 * query.candidates


def _fuse(query: Query, legs: Legs) -> Sequence[Fused]:
    if query.fusion == "rrf":
        return fusion.reciprocal_rank(legs.dense, legs.lexical)
    return fusion.relative(legs.dense, legs.lexical, alpha=legs.asked.alpha if legs.dense else 0)
