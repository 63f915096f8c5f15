"""The search itself: embed, look, fuse; nothing outside the scope is ever read."""

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


class QueryVectorCache(Protocol):
    """Remembers query vectors, of a tenant and under a key; what is lost is embedded again."""

    async def get(self, tenant: str, key: str, /) -> bytes | None: ...
    async def put(self, tenant: str, key: str, vector: bytes, /) -> None: ...


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits, best first, and the revision of each partition that they were found at.

    history: of the database, which the revisions are of.
    corrections: what unknown words of the query were taken for, as far as the hits show.
    degraded: the embedder was away, so the lexical leg answered alone.
    low_confidence: no hit scores what it has to, where something is set; by `absolute` alone, whose
        scores mean the same for every question.
    dependence: which changes end this; of what the hits are, it says nothing.
    """

    hits: tuple[Hit, ...]
    history: str
    as_of: Mapping[str, int]
    corrections: Mapping[str, Sequence[str]]
    degraded: bool
    dependence: AnswerDependencies = field(compare=False)
    low_confidence: bool = False


class Searcher:
    """Searches in the space of whoever asks; `embedders` are those of this process.

    The first one embeds for an index that has no space yet. remembered: by the space of those that
    take longer than remembering does. score_min: what a hit has to score for an answer to be sure,
    for tenants that set nothing else.
    """

    def __init__(
        self,
        database: Database,
        *embedders: Embedder,
        limits: StrategyLimits = strategy.MEASURED,
        remembered: Mapping[str, QueryVectorCache] | None = None,
        score_min: float | None = None,
    ) -> None:
        self._score_min = score_min
        self._remembered = remembered or {}
        self._database = database
        self._passes = SearchExecutor(database, limits=limits)
        self._first = embedders[0].space
        self._embedders = {embedder.space: embedder for embedder in embedders}

    async def search(
        self, scope: Scope, query: Query, *, history: str | None = None
    ) -> SearchResult:
        """What there is now.

        history: that the scope was read from, if it was read from the database: grants of one
                 history must not select rows of another.

        Raises `DatabaseUnavailable`.
        """
        found = await self._found(scope, query)
        if history is not None and found.history != history:
            await self._database.renew_connections()
            raise DatabaseUnavailable("the caller and the rows were read from two histories")
        return found

    async def _found(self, scope: Scope, query: Query) -> SearchResult:
        asked: dict[str, EmbeddedQuery] = {}

        async def ask(space: str | None) -> EmbeddedQuery:
            name = space or self._first
            if name not in asked:
                asked[name] = await self._embed_query(scope, query, name)
            return asked[name]

        for shown in (query.likely_depth, query.depth):
            looked = await self._passes.execute(SearchTask(scope, query, shown, ask))
            ranking = _fuse(query, looked)[:shown]
            picked = hits.select_hits(query, ranking, looked.rows)
            if shown == query.depth or _is_complete(query, picked, ranking, shown):
                found = _to_result(scope, query, looked, ranking, picked)
                return self._with_confidence(found, query, looked)
        raise AssertionError("the last look goes as deep as any")

    def _with_confidence(
        self, found: SearchResult, query: Query, looked: PassResults
    ) -> SearchResult:
        if query.fusion != "absolute" or not confidence.is_low(
            found.hits,
            looked.confidence,
            tenant=found.dependence.scope.tenant,
            default=self._score_min,
        ):
            return found
        return replace(found, low_confidence=True)

    async def _embed_query(self, scope: Scope, query: Query, space: str) -> EmbeddedQuery:
        """The query in the space; without its embedder words alone decide, on the whole scale."""
        embedder = self._embedders.get(space)
        dense = None if embedder is None else await self._vector(scope, embedder, query.text)
        if embedder is None or dense is None:
            return EmbeddedQuery(space, None, 0.0)
        alpha = embedder.alpha if query.alpha is None else query.alpha
        return EmbeddedQuery(space, dense, round(alpha, 3))

    async def _vector(self, scope: Scope, embedder: Embedder, text: str) -> HalfVector | None:
        """Remembered for whoever sees the same: nobody else can tell that it was asked before."""
        vectors = self._remembered.get(embedder.space)
        if vectors is None:
            return await _embed(embedder, text)
        key = _vector_key(scope, embedder.space, text)
        kept = await vectors.get(scope.tenant, key)
        if kept is not None and len(kept) == _HALF_BYTES * embedder.dimensions:
            return HalfVector(np.frombuffer(kept, "<f2"))
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


def _fuse(query: Query, looked: PassResults) -> Sequence[FusedChunk]:
    dense, lexical, alpha = looked.dense, looked.lexical, looked.embedded_query.alpha
    if query.fusion == "rrf":
        return fusion.reciprocal_rank(dense, lexical)
    if query.fusion == "relative":
        return fusion.relative(dense, lexical, alpha=_leg_share(looked))
    return fusion.absolute(looked.scored, dense, lexical, alpha=alpha)


def _leg_share(looked: PassResults) -> float:
    """The dense leg's share; words have it all where there is nothing else."""
    return looked.embedded_query.alpha if looked.dense else 0.0


def _is_complete(
    query: Query, picked: SelectedHits, ranking: Sequence[FusedChunk], shown: int
) -> bool:
    """Whether no chunk beyond these could be a hit."""
    is_full = len(picked.hits) == query.top_k
    return is_full or len(picked.looked_at) < len(ranking) or len(ranking) < shown


def _to_result(
    scope: Scope,
    query: Query,
    looked: PassResults,
    ranking: Sequence[FusedChunk],
    picked: SelectedHits,
) -> SearchResult:
    return SearchResult(
        hits=picked.hits,
        history=looked.history,
        as_of=looked.revisions,
        corrections=spelling.shown_corrections(
            looked.spelling.corrections, [hit.text for hit in picked.hits]
        ),
        degraded=looked.embedded_query.dense is None,
        dependence=_dependencies(scope, query, looked, ranking, picked),
    )


def _dependencies(
    scope: Scope,
    query: Query,
    looked: PassResults,
    ranking: Sequence[FusedChunk],
    picked: SelectedHits,
) -> AnswerDependencies:
    # A leg without weight adds nothing, but its ranks are explained.
    all_count = query.fusion == "rrf" or query.explain
    dense_counts = query.by_legs and (all_count or looked.embedded_query.alpha > 0)
    lexical_counts = query.by_legs and (all_count or _leg_share(looked) < 1)
    counted = (
        *(looked.dense if dense_counts else ()),
        *(looked.lexical if lexical_counts else ()),
    )
    vector = looked.embedded_query.dense
    widened = picked.looked_at if query.expand or query.summaries else ()
    return AnswerDependencies(
        scope=scope,
        query=query,
        space=looked.embedded_query.space,
        languages=looked.languages,
        words=looked.spelling.words,
        dense=np.zeros(0, np.float32) if vector is None else vector.to_numpy().astype(np.float32),
        lexical=looked.query_terms,
        alpha=looked.embedded_query.alpha,
        fused_floor=_fused_floor(query, ranking, picked),
        dense_floor=_leg_floor(looked.dense, query) if dense_counts else math.inf,
        lexical_floor=_leg_floor(looked.lexical, query) if lexical_counts else math.inf,
        candidates=tuple({candidate.chunk_id: None for candidate in counted}),
        shown=picked.looked_at,
        documents=tuple({looked.rows[chunk_id]["document_key"]: None for chunk_id in widened}),
        exact=looked.exact,
    )


def _leg_floor(leg: Sequence[Candidate], query: Query) -> float | None:
    return leg[-1].score if len(leg) == query.candidates else None


def _fused_floor(query: Query, ranking: Sequence[FusedChunk], picked: SelectedHits) -> float:
    """The score below which no chunk would be looked at; infinite where legs alone decide."""
    if query.fusion != "absolute":
        return math.inf
    least = query.min_score or 0.0
    if len(picked.hits) == query.top_k:
        return max(least, ranking[len(picked.looked_at) - 1].score)
    return max(least, ranking[-1].score) if len(ranking) == query.depth else least
