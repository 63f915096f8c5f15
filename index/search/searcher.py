"""The search: embed the query, run the passes, fuse. It never reads outside the scope."""

import asyncio
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from index.errors import DatabaseUnavailable, EmbeddingUnavailable
from index.invalidation.answer_dependencies import AnswerDependencies
from index.model.query import Query
from index.model.scope import Scope
from index.postgres.database import Database
from index.search import confidence, fusion, hits, strategy
from index.search.fusion import Candidate, FusedChunk
from index.search.hits import Hit, SelectedHits
from index.search.search_plan_executor import EmbeddedQuery, PassResults, SearchExecutor, SearchTask
from index.search.strategy import StrategyLimits
from index.text import spelling

_HALF_BYTES = 2
EMBEDDING_BUDGET_S = 2.0  # a starting value, not measured; after it the lexical leg answers alone


class Embedder(Protocol):
    """Embeds texts as unit vectors; models may embed questions and passages differently.

    space:           names the vector space; vectors of different spaces are never compared.
    alpha:           the dense leg's share in a fusion, unless the request sets it.
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
class SearchResult:
    """The hits, best first, and the revision of each partition at which they were read.

    history: of the database, to which the revisions belong.
    corrections: of unknown query words, as far as the hits show them.
    degraded: the embedder was unavailable, so the lexical leg answered alone.
    low_confidence: no hit reaches its required score. Only `absolute` sets it, whose scores mean
        the same for every query.
    dependence: which changes invalidate this answer; not compared.
    """

    hits: tuple[Hit, ...]
    history: str
    as_of: Mapping[str, int]
    corrections: Mapping[str, Sequence[str]]
    degraded: bool
    dependence: AnswerDependencies = field(compare=False)
    low_confidence: bool = False


class Searcher:
    """Searches a tenant's index in the space of its vectors.

    embedders: those of this process; the first one embeds for an index that has no space yet.
    query_vector_caches: by space, for embedders that are slower than a cache.
    score_min: the score a confident answer needs, for tenants that set none.
    """

    def __init__(
        self,
        database: Database,
        *embedders: Embedder,
        limits: StrategyLimits = strategy.MEASURED,
        query_vector_caches: Mapping[str, QueryVectorCache] | None = None,
        score_min: float | None = None,
    ) -> None:
        self._score_min = score_min
        self._query_vector_caches = query_vector_caches or {}
        self._database = database
        self._executor = SearchExecutor(database, limits=limits)
        self._default_space = embedders[0].space
        self._embedders = {embedder.space: embedder for embedder in embedders}

    async def search(
        self, scope: Scope, query: Query, *, history: str | None = None
    ) -> SearchResult:
        """Search the current rows.

        history: from which the scope was read, if it was read from the database: grants of one
                 history must not select rows of another.

        Raises `DatabaseUnavailable`.
        """
        result = await self._search(scope, query)
        if history is not None and result.history != history:
            await self._database.renew_connections()
            raise DatabaseUnavailable("the caller and the rows were read from two histories")
        return result

    async def _search(self, scope: Scope, query: Query) -> SearchResult:
        embedded: dict[str, EmbeddedQuery] = {}

        async def embed(space: str | None) -> EmbeddedQuery:
            space_name = space or self._default_space
            if space_name not in embedded:
                embedded[space_name] = await self._embed_query(scope, query, space_name)
            return embedded[space_name]

        for rows_max in (query.likely_depth, query.depth):
            results = await self._executor.execute(SearchTask(scope, query, rows_max, embed))
            ranking = _fuse(query, results)[:rows_max]
            selected = hits.select_hits(query, ranking, results.rows)
            if rows_max == query.depth or _is_complete(query, selected, ranking, rows_max):
                result = _to_result(scope, query, results, ranking, selected)
                return self._with_confidence(result, query, results)
        raise AssertionError("the last search goes to the full depth")

    def _with_confidence(
        self, result: SearchResult, query: Query, results: PassResults
    ) -> SearchResult:
        if query.fusion != "absolute" or not confidence.is_low(
            result.hits,
            results.confidence,
            tenant=result.dependence.scope.tenant,
            default=self._score_min,
        ):
            return result
        return replace(result, low_confidence=True)

    async def _embed_query(self, scope: Scope, query: Query, space: str) -> EmbeddedQuery:
        """The query in the space; without its embedder the lexical leg decides alone."""
        embedder = self._embedders.get(space)
        dense = None if embedder is None else await self._vector(scope, embedder, query.text)
        if embedder is None or dense is None:
            return EmbeddedQuery(space, None, 0.0)
        alpha = embedder.alpha if query.alpha is None else query.alpha
        return EmbeddedQuery(space, dense, round(alpha, 3))

    async def _vector(self, scope: Scope, embedder: Embedder, text: str) -> HalfVector | None:
        """Cached per scope: no caller of another scope can tell that a query was asked before."""
        vectors = self._query_vector_caches.get(embedder.space)
        if vectors is None:
            return await _embed(embedder, text)
        key = _vector_key(scope, embedder.space, text)
        cached = await vectors.get(scope.tenant, key)
        if cached is not None and len(cached) == _HALF_BYTES * embedder.dimensions:
            return HalfVector(np.frombuffer(cached, "<f2"))
        vector = await _embed(embedder, text)
        if vector is not None:
            await vectors.put(scope.tenant, key, vector.to_numpy().astype("<f2").tobytes())
        return vector


def _vector_key(scope: Scope, space: str, text: str) -> str:
    digest = hashlib.blake2b(scope.fingerprint, digest_size=16)
    digest.update(f"{space}\0{text}".encode())
    return digest.hexdigest()


async def _embed(embedder: Embedder, text: str) -> HalfVector | None:
    try:
        async with asyncio.timeout(EMBEDDING_BUDGET_S):
            return HalfVector(await embedder.embed_query(text))
    except (EmbeddingUnavailable, TimeoutError):
        return None


def _fuse(query: Query, results: PassResults) -> Sequence[FusedChunk]:
    dense, lexical, alpha = results.dense, results.lexical, results.embedded_query.alpha
    if query.fusion == "rrf":
        return fusion.reciprocal_rank(dense, lexical)
    if query.fusion == "relative":
        return fusion.relative(dense, lexical, alpha=_leg_share(results))
    return fusion.absolute(results.scored, dense, lexical, alpha=alpha)


def _leg_share(results: PassResults) -> float:
    """The dense leg's share; 0 if the leg is empty."""
    return results.embedded_query.alpha if results.dense else 0.0


def _is_complete(
    query: Query, selected: SelectedHits, ranking: Sequence[FusedChunk], rows_max: int
) -> bool:
    """Whether no further chunk could be a hit."""
    is_full = len(selected.hits) == query.top_k
    return is_full or len(selected.examined) < len(ranking) or len(ranking) < rows_max


def _to_result(
    scope: Scope,
    query: Query,
    results: PassResults,
    ranking: Sequence[FusedChunk],
    selected: SelectedHits,
) -> SearchResult:
    return SearchResult(
        hits=selected.hits,
        history=results.history,
        as_of=results.revisions,
        corrections=spelling.shown_corrections(
            results.spelling.corrections, [hit.text for hit in selected.hits]
        ),
        degraded=results.embedded_query.dense is None,
        dependence=_dependencies(scope, query, results, ranking, selected),
    )


def _dependencies(
    scope: Scope,
    query: Query,
    results: PassResults,
    ranking: Sequence[FusedChunk],
    selected: SelectedHits,
) -> AnswerDependencies:
    # A leg without weight adds no score, but `explain` shows its ranks.
    all_count = query.fusion == "rrf" or query.explain
    dense_counts = query.by_legs and (all_count or results.embedded_query.alpha > 0)
    lexical_counts = query.by_legs and (all_count or _leg_share(results) < 1)
    candidates = (
        *(results.dense if dense_counts else ()),
        *(results.lexical if lexical_counts else ()),
    )
    vector = results.embedded_query.dense
    widened_chunks = selected.examined if query.expand or query.summaries else ()
    return AnswerDependencies(
        scope=scope,
        query=query,
        space=results.embedded_query.space,
        languages=results.languages,
        vocabulary_size=results.spelling.words,
        dense=np.zeros(0, np.float32) if vector is None else vector.to_numpy().astype(np.float32),
        lexical=results.query_terms,
        alpha=results.embedded_query.alpha,
        fused_floor=_fused_floor(query, ranking, selected),
        dense_floor=_leg_floor(results.dense, query) if dense_counts else math.inf,
        lexical_floor=_leg_floor(results.lexical, query) if lexical_counts else math.inf,
        candidates=tuple({candidate.chunk_id: None for candidate in candidates}),
        examined=selected.examined,
        documents=tuple(
            {results.rows[chunk_id]["document_key"]: None for chunk_id in widened_chunks}
        ),
        exact=results.exact,
    )


def _leg_floor(leg: Sequence[Candidate], query: Query) -> float | None:
    return leg[-1].score if len(leg) == query.candidates else None


def _fused_floor(query: Query, ranking: Sequence[FusedChunk], selected: SelectedHits) -> float:
    """The score below which no chunk is examined; infinite where legs alone decide."""
    if query.fusion != "absolute":
        return math.inf
    score_min = query.min_score or 0.0
    if len(selected.hits) == query.top_k:
        return max(score_min, ranking[len(selected.examined) - 1].score)
    return max(score_min, ranking[-1].score) if len(ranking) == query.depth else score_min
