"""The search itself: embed, look, fuse; nothing outside the scope is ever read."""

import asyncio
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from index import fusion, hits, spelling, strategy
from index.database import Database
from index.dependence import Dependence
from index.errors import EmbeddingUnavailable
from index.fusion import Candidate, Fused
from index.hits import Hit, Picked
from index.passes import Asked, Legs, Passes, Question
from index.query import Query
from index.scope import Scope
from index.strategy import Limits

_HALF_BYTES = 2
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


class Vectors(Protocol):
    """Remembers query vectors, of a tenant and under a key; what is lost is embedded again."""

    async def get(self, tenant: str, key: str, /) -> bytes | None: ...
    async def put(self, tenant: str, key: str, vector: bytes, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Found:
    """The hits, best first, and the revision of each partition that they were found at.

    corrections: what unknown words of the query were taken for, as far as the hits show.
    degraded: the embedder was away, so the lexical leg answered alone.
    dependence: which changes end this; of what the hits are, it says nothing.
    """

    hits: tuple[Hit, ...]
    as_of: Mapping[str, int]
    corrections: Mapping[str, Sequence[str]]
    degraded: bool
    dependence: Dependence = field(compare=False)


class Searcher:
    """Searches in the space of whoever asks; `embedders` are those of this process.

    The first one embeds for an index that has no space yet. remembered: by the space of those that
    take longer than remembering does.
    """

    def __init__(
        self,
        database: Database,
        *embedders: Embedder,
        limits: Limits = strategy.MEASURED,
        remembered: Mapping[str, Vectors] | None = None,
    ) -> None:
        self._remembered = remembered or {}
        self._passes = Passes(database, limits=limits)
        self._first = embedders[0].space
        self._embedders = {embedder.space: embedder for embedder in embedders}

    async def search(self, scope: Scope, query: Query) -> Found:
        """Raises `DatabaseUnavailable`."""
        asked: dict[str, Asked] = {}

        async def ask(space: str | None) -> Asked:
            name = space or self._first
            if name not in asked:
                asked[name] = await self._asked(scope, query, name)
            return asked[name]

        # What most answers show; and then, should many candidates be one text, what any may show.
        for shown in (_likely(query), 2 * query.candidates):
            legs = await self._passes.legs(Question(scope, query, shown, ask))
            picked = hits.pick(query, _fuse(query, legs), legs.shown)
            if picked is not None:
                return _found(scope, query, legs, picked)
        raise AssertionError("every candidate was shown")

    async def _asked(self, scope: Scope, query: Query, space: str) -> Asked:
        """The query in the space; without its embedder words alone decide, on the whole scale."""
        embedder = self._embedders.get(space)
        dense = None if embedder is None else await self._vector(scope, embedder, query.text)
        if embedder is None or dense is None:
            return Asked(space, None, 0.0)
        return Asked(space, dense, embedder.alpha if query.alpha is None else query.alpha)

    async def _vector(self, scope: Scope, embedder: Embedder, text: str) -> HalfVector | None:
        """Remembered for whoever sees the same: nobody else can tell that it was asked before."""
        vectors = self._remembered.get(embedder.space)
        if vectors is None:
            return await _embedded(embedder, text)
        key = _vector_key(scope, embedder.space, text)
        kept = await vectors.get(scope.tenant, key)
        if kept is not None and len(kept) == _HALF_BYTES * embedder.dimensions:
            return HalfVector(np.frombuffer(kept, "<f2"))
        vector = await _embedded(embedder, text)
        if vector is not None:
            await vectors.put(scope.tenant, key, vector.to_numpy().astype("<f2").tobytes())
        return vector


def _vector_key(scope: Scope, space: str, text: str) -> str:
    digest = hashlib.blake2b(scope.fingerprint, digest_size=16)
    digest.update(f"{space}\0{text}".encode())
    return digest.hexdigest()


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
    return fusion.relative(legs.dense, legs.lexical, alpha=_alpha(legs))


def _alpha(legs: Legs) -> float:
    """The dense leg's share; words have it all where there is nothing else."""
    return legs.asked.alpha if legs.dense else 0.0


def _found(scope: Scope, query: Query, legs: Legs, picked: Picked) -> Found:
    return Found(
        hits=picked.hits,
        as_of=legs.revisions,
        corrections=spelling.evident(legs.spelled.corrections, [hit.text for hit in picked.hits]),
        degraded=legs.asked.dense is None,
        dependence=_dependence(scope, query, legs, picked),
    )


def _dependence(scope: Scope, query: Query, legs: Legs, picked: Picked) -> Dependence:
    # A leg without weight adds nothing, but its ranks are explained.
    all_count = query.fusion == "rrf" or query.explain
    dense_counts = all_count or legs.asked.alpha > 0
    lexical_counts = all_count or _alpha(legs) < 1
    counted = (*(legs.dense if dense_counts else ()), *(legs.lexical if lexical_counts else ()))
    vector = legs.asked.dense
    widened = picked.looked_at if query.expand else ()
    return Dependence(
        scope=scope,
        query=query,
        space=legs.asked.space,
        languages=legs.languages,
        words=legs.spelled.words,
        dense=np.zeros(0, np.float32) if vector is None else vector.to_numpy().astype(np.float32),
        lexical=legs.words,
        dense_floor=_floor(legs.dense, query) if dense_counts else math.inf,
        lexical_floor=_floor(legs.lexical, query) if lexical_counts else math.inf,
        candidates=tuple({candidate.chunk_id: None for candidate in counted}),
        shown=picked.looked_at,
        documents=tuple({legs.shown[chunk_id]["document_key"]: None for chunk_id in widened}),
        exact=legs.exact,
    )


def _floor(leg: Sequence[Candidate], query: Query) -> float | None:
    return leg[-1].score if len(leg) == query.candidates else None
