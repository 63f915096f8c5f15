"""Embeds the text of a query, in the space of the tenant's index."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from common.billing_context import bill_to
from index.errors import EmbeddingUnavailable, VectorRefused
from index.model.query import Query
from index.model.query_parts import query_vector
from index.model.scope import Scope
from index.text import lexical, long_queries

EMBEDDING_BUDGET_S = 2.0  # a starting value, not measured; after it the lexical leg answers alone
_HALF_BYTES = 2


class Embedder(Protocol):
    """Embeds texts as unit vectors; models may embed questions and passages differently.

    space:           names the vector space; vectors of different spaces are never compared.
    alpha:           the dense leg's share in a fusion, unless the request sets it.
    confident_score: that the best hit of a question with an answer seldom misses, at this alpha;
                     None if that is not measured.
    tokens_max:      of a text; the embedder ignores or refuses the rest.
    batch_texts_max: passages a call; larger batches take longer and fail together.

    Vectors have the shapes (dimensions,) and (texts, dimensions). Raises `EmbeddingUnavailable`.
    """

    @property
    def space(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    @property
    def alpha(self) -> float: ...
    @property
    def confident_score(self) -> float | None: ...
    @property
    def tokens_max(self) -> int: ...
    @property
    def batch_texts_max(self) -> int: ...
    async def embed_query(self, text: str) -> NDArray[np.float32]: ...
    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


class QueryVectorCache(Protocol):
    """Caches query vectors by tenant and key; a lost vector is embedded again."""

    async def get(self, tenant: str, key: str, /) -> bytes | None: ...
    async def put(self, tenant: str, key: str, vector: bytes, /) -> None: ...


@dataclass(frozen=True, slots=True)
class EmbeddedQuery:
    """A query in the space of one embedder.

    dense: its vector; None while the embedder is away, or if this process has none for the space.
    alpha: the dense score's share in a fusion, 0 without a vector; in thousandths, so that nothing
        in PostgreSQL underflows.
    confident_score: that the best hit of an answered question seldom misses; None if the embedder
        has none, or if it does not hold for this query.
    """

    space: str
    dense: HalfVector | None
    alpha: float
    confident_score: float | None = None

    @property
    def width(self) -> int | None:
        return None if self.dense is None else self.dense.dimensions()


class QueryEmbedder:
    """embedders: of this process; the first one's is the default space, of an index that has none.

    vector_caches: by space, for embedders that are slower than a cache.
    """

    def __init__(
        self,
        *embedders: Embedder,
        vector_caches: Mapping[str, QueryVectorCache] | None = None,
    ) -> None:
        self.default_space = embedders[0].space
        self._embedders = {embedder.space: embedder for embedder in embedders}
        self._vector_caches = vector_caches or {}

    async def embed(self, scope: Scope, query: Query, space: str) -> EmbeddedQuery:
        """The query in the space, not weighed yet; without its embedder words decide alone.

        Raises `VectorRefused` if the query's own vector is of another space.
        """
        embedder = self._embedders.get(space)
        dense = None
        if query.vector is not None:
            dense = _own_vector(query.vector, embedder)
        elif embedder is not None:
            text = long_queries.embedded_text(query.text)
            dense = await self._vector(scope, embedder, text)
        return EmbeddedQuery(space, dense, 0.0)

    def weigh(
        self,
        embedded_query: EmbeddedQuery,
        query: Query,
        asked_in: str | None,
        languages: frozenset[str],
    ) -> EmbeddedQuery:
        """The embedded query with the alpha and the confident score for a scope of these languages.

        Functions of the query and of the languages alone, which an answer's dependencies hold.
        asked_in: the query's language, if it is known.
        """
        embedder = self._embedders.get(embedded_query.space)
        if embedder is None or embedded_query.dense is None:
            return embedded_query
        is_foreign = lexical.is_foreign(asked_in, languages)
        return _weighed(embedded_query, embedder, query, is_foreign=is_foreign)

    async def _vector(self, scope: Scope, embedder: Embedder, text: str) -> HalfVector | None:
        """Cached per scope: no caller of another scope can tell that a query was asked before."""
        vectors = self._vector_caches.get(embedder.space)
        if vectors is None:
            return await _embed(scope.tenant, embedder, text)
        key = _vector_key(scope, embedder.space, text)
        cached = await vectors.get(scope.tenant, key)
        if cached is not None and len(cached) == _HALF_BYTES * embedder.dimensions:
            return HalfVector(np.frombuffer(cached, "<f2"))
        vector = await _embed(scope.tenant, embedder, text)
        if vector is not None:
            await vectors.put(scope.tenant, key, vector.to_numpy().astype("<f2").tobytes())
        return vector


def _own_vector(encoded: str, embedder: Embedder | None) -> HalfVector:
    if embedder is None:
        raise VectorRefused(
            "can't be compared: this gateway has no embedder for the vectors of the index", encoded
        )
    vector = query_vector.decode(encoded)
    if vector.size != embedder.dimensions:
        raise VectorRefused(
            f"must have {embedder.dimensions:,} numbers, as the vectors of the index; it has "
            f"{vector.size:,}",
            encoded,
        )
    return HalfVector(vector)


def _weighed(
    embedded_query: EmbeddedQuery, embedder: Embedder, query: Query, *, is_foreign: bool
) -> EmbeddedQuery:
    """With the query's own alpha, or the embedder's.

    The confident score is measured at the embedder's alpha, within one language, and for queries
    that count as a whole.
    """
    confident_score = None
    if not query.text:  # there are no words to share with
        alpha = 1.0
    elif query.alpha is not None:
        alpha = query.alpha
    else:
        alpha = embedder.alpha
        if not is_foreign and not long_queries.asking_sentences(query.text):  # it is not long
            confident_score = embedder.confident_score
    space, dense = embedded_query.space, embedded_query.dense
    return EmbeddedQuery(space, dense, round(alpha, 3), confident_score)


def _vector_key(scope: Scope, space: str, text: str) -> str:
    digest = hashlib.blake2b(scope.fingerprint, digest_size=16)
    digest.update(f"{space}\0{text}".encode())
    return digest.hexdigest()


async def _embed(tenant: str, embedder: Embedder, text: str) -> HalfVector | None:
    try:
        async with asyncio.timeout(EMBEDDING_BUDGET_S):
            with bill_to(tenant):
                return HalfVector(await embedder.embed_query(text))
    except (EmbeddingUnavailable, TimeoutError):
        return None
