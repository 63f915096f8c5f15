"""The search: embed the query, run the passes, fuse. It never reads outside the scope."""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import Protocol

import numpy as np

from index.errors import DatabaseUnavailable
from index.invalidation.answer_dependencies import AnswerDependencies
from index.model.query import Query
from index.model.scope import Scope
from index.postgres.database import Database
from index.resident.resident_shards import ResidentShards
from index.search.confidence import RequiredScores
from index.search.found_chunks import FoundChunks
from index.search.hits import Hit, SelectedHits, Selection, leg_share, select
from index.search.preparation import AskedSearch, PreparedSearch
from index.search.query_embedder import Embedder, QueryEmbedder, QueryVectorCache
from index.search.ranking import boosting
from index.search.ranking.fusion import Candidate, FusedChunk
from index.search.search_executor import SearchExecutor
from index.search.shards.confirmation import Confirmations
from index.search.shards.shard_search import KnownRevisions
from index.search.tables import strategy
from index.search.tables.facets import Facets
from index.search.tables.strategy import StrategyLimits
from index.text import highlights, spelling

_TEXT = attrgetter("text")  # of a hit


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits, best first, and the revision of each partition at which they were read.

    history: of the database, to which the revisions belong.
    access_revision: of the tenant's keys and groups when they were read; None without a tenant, or
        if nothing was read from PostgreSQL.
    audience_revision: of the tenant's audiences when the hits were read.
    corrections: of unknown query words, as far as the hits show them.
    missing_parts: by part that was unavailable, how the search went on without it.
    facets: counts of the visible documents; None unless the query asks for them.
    low_confidence: no hit reaches its required score. Only `absolute` sets it, whose scores mean
        the same for every query.
    found: what the hits were selected from; not compared.
    """

    hits: tuple[Hit, ...]
    history: str
    as_of: Mapping[str, int]
    access_revision: int | None
    audience_revision: int
    corrections: Mapping[str, Sequence[str]]
    missing_parts: Mapping[str, str]
    facets: Facets | None
    low_confidence: bool
    found: Selection = field(compare=False, repr=False)

    @property
    def scope(self) -> Scope:
        return self.found.chunks.prepared.scope

    @property
    def degraded(self) -> bool:
        return bool(self.missing_parts)

    @property
    def dependencies(self) -> AnswerDependencies:
        """Which changes invalidate this answer; made when asked for, since few are recorded."""
        return _dependencies(self.found)


class StandbyDatabase(Protocol):
    """A copy of the database that is nearer, and may be behind."""

    @property
    def database(self) -> Database: ...

    async def execute(
        self, executor: SearchExecutor, asked: AskedSearch, rows_max: int, known: KnownRevisions, /
    ) -> FoundChunks | None:
        """As `execute` of the executor, which is of the copy; None if it has not what is known."""
        ...


class Searcher:
    """Searches a tenant's index in the space of its vectors.

    embedders: those of this process; the first one embeds for an index that has no space yet.
    query_vector_caches: by space, for embedders that are slower than a cache.
    score_min: the score a confident answer needs, for tenants that set none; None for the
        embedder's, if one is measured.
    shards: partitions in memory; None to search in PostgreSQL alone.
    standby: searched instead of `database` at revisions that are known and replayed there; then the
        shards are of its rows.
    in_region: whether a read lease proves the revisions that a search is given: then shards at
        these answer without PostgreSQL, which may be far away.
    """

    def __init__(
        self,
        database: Database,
        *embedders: Embedder,
        limits: StrategyLimits = strategy.MEASURED,
        query_vector_caches: Mapping[str, QueryVectorCache] | None = None,
        score_min: float | None = None,
        shards: ResidentShards | None = None,
        standby: StandbyDatabase | None = None,
        in_region: bool = False,
    ) -> None:
        self._score_min = score_min
        self._database = database
        self.query_embedder = QueryEmbedder(*embedders, vector_caches=query_vector_caches)
        self._is_remote = bool(query_vector_caches)

        def executor(database: Database, shards: ResidentShards | None) -> SearchExecutor:
            return SearchExecutor(
                database, self.query_embedder, limits=limits, shards=shards, in_region=in_region
            )

        self._standby = standby
        self._executor = executor(database, shards if standby is None else None)
        self._nearest = self._executor
        if standby is not None:
            self._nearest = executor(standby.database, shards)

    @property
    def confirmations(self) -> Confirmations:
        """What PostgreSQL says of answers from memory, and of its counters."""
        return self._executor.confirmations

    @property
    def has_standby(self) -> bool:
        """Whether a search at known revisions is nearer than one of the current rows."""
        return self._standby is not None

    def answers_from_memory(self, scope: Scope, query: Query) -> bool:
        """Whether a search now takes about as long as a lookup in Redis."""
        shards = self._nearest.shards
        return shards is not None and not self._is_remote and shards.is_likely(scope, query)

    def is_in_memory(self, scope: Scope, query: Query) -> bool:
        """Whether a search at known revisions would now be answered without PostgreSQL."""
        shards = self._nearest.shards
        return shards is not None and not self._is_remote and shards.is_in_memory(scope, query)

    async def search(
        self,
        scope: Scope,
        query: Query,
        *,
        history: str | None = None,
        revisions: Mapping[str, int] | None = None,
    ) -> SearchResult:
        """Search the current rows, or those of the revisions or later ones.

        history:   from which the scope was read, if it was read from the database: grants of one
                   history must not select rows of another.
        revisions: read with the scope, of each partition; None to ask the database in any case.

        Raises `DatabaseUnavailable`.
        """
        known = None
        if history is not None and revisions is not None:
            known = KnownRevisions(history, revisions)
        asked = AskedSearch(scope, query)
        result = await self.result_of(asked, partial(self._find, asked, known))
        if history is not None and result.history != history:
            await self._database.renew_connections()
            raise DatabaseUnavailable("the caller and the rows were read from two histories")
        return result

    async def compare(self, found: Selection, document_id: str, *, chunks_max: int) -> Selection:
        """The best visible chunks of the documents of this name, beside those that were found.

        They are compared as those were, and ranked by `absolute`. Raises `DatabaseUnavailable` and
        `Saturated`.
        """
        prepared = found.chunks.prepared
        query = Query(
            text=prepared.query.text,
            top_k=chunks_max,
            filter=replace(prepared.query.filter, documents=(document_id,)),
        )
        prepared = replace(prepared, query=query, rows_max=chunks_max)
        chunks = await self._executor.tables.search_exactly(prepared)
        return select(query, chunks, chunks_max)

    async def result_of(
        self, asked: AskedSearch, find: Callable[[int], Awaitable[FoundChunks]]
    ) -> SearchResult:
        """The hits among what `find` finds: so many of the best chunks, and then more if needed."""
        query, depth = asked.query, asked.query.depth
        for rows_max in (query.likely_depth, depth):
            chunks = await find(rows_max)
            if query.diversity:  # to compare vectors with 4,000 numbers each takes 45 ms
                arguments = (query, chunks, rows_max)
                found = await self._executor.threads.run(asked.scope.tenant, select, *arguments)
            else:
                found = select(query, chunks, rows_max)
            if rows_max == depth or _is_complete(query, found, rows_max):
                return await self._to_result(found)
        raise AssertionError("the last search goes to the full depth")

    async def _find(
        self, asked: AskedSearch, known: KnownRevisions | None, rows_max: int
    ) -> FoundChunks:
        if self._standby is not None and known is not None:
            found = await self._standby.execute(self._nearest, asked, rows_max, known)
            if found is not None:
                return found
        return await self._executor.execute(asked, rows_max, known)

    async def _to_result(self, found: Selection) -> SearchResult:
        chunks, prepared = found.chunks, found.chunks.prepared
        query, hits = prepared.query, found.selected.hits
        if query.highlights:
            tenant, threads = prepared.scope.tenant, self._executor.threads
            hits = await threads.run(tenant, _annotated, query, chunks, hits)
        elif query.updated_at or query.explain or query.relations:
            hits = _annotated(query, chunks, hits)
        is_low_confidence = False
        if query.fusion == "absolute":
            required = RequiredScores(
                prepared.scope.tenant,
                chunks.confidence,
                default=self._score_min,
                measured=prepared.embedded_query.confident_score,
            )
            is_low_confidence = required.are_missed_by(hits)
            if query.explain:
                hits = tuple(hit._replace(required_score=required.of(hit)) for hit in hits)
        corrections = prepared.spelling.corrections
        return SearchResult(
            hits=hits,
            history=chunks.history,
            as_of=chunks.revisions,
            access_revision=chunks.access_revision,
            audience_revision=chunks.audience_revision,
            corrections=spelling.shown_corrections(corrections, map(_TEXT, hits)),
            missing_parts=_missing_parts(prepared),
            facets=chunks.extras.facets,
            low_confidence=is_low_confidence,
            found=found,
        )


def _missing_parts(prepared: PreparedSearch) -> Mapping[str, str]:
    if prepared.embedded_query.dense is None:
        return {"embedder": "lexical-only"}
    return {"word_list": "no-word-list"} if prepared.lacks_lists else {}


def _is_complete(query: Query, found: Selection, rows_max: int) -> bool:
    """Whether no further chunk could be a hit."""
    selected, ranking = found.selected, found.ranking
    is_full = len(selected.hits) == query.top_k
    return is_full or len(selected.examined) < len(ranking) or len(ranking) < rows_max


def _annotated(query: Query, chunks: FoundChunks, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    return tuple(_annotated_hit(query, chunks, hit) for hit in hits)


def _annotated_hit(query: Query, chunks: FoundChunks, hit: Hit) -> Hit:
    """The hit with what its chunk or its document alone tells, if the query asks for it."""
    row = chunks.rows[hit.chunk_id]
    if query.updated_at:
        hit = hit._replace(updated_at=row["updated_at"])
    if query.highlights:
        found = highlights.find(hit.text, hit.language, chunks.prepared.terms.weights)
        if query.highlight_units == "utf16":
            found = highlights.in_utf16(hit.text, found)
        hit = hit._replace(highlights=found)
    if query.explain and query.boost is not None:
        hit = hit._replace(boosts=boosting.boosts(query.boost, row, chunks.extras))
    if query.relations:
        hit = hit._replace(related=chunks.extras.related.get(row["document_key"], ()))
    return hit


def _dependencies(found: Selection) -> AnswerDependencies:
    chunks, selected, prepared = found.chunks, found.selected, found.chunks.prepared
    query, embedded_query = prepared.query, prepared.embedded_query
    # A leg without weight adds no score, but `explain` shows its ranks.
    # A fusion that ignores alpha depends on all candidates of both legs: it belongs here too.
    uses_all_candidates = query.fusion == "rrf" or query.explain
    dense_counts = query.by_legs and (uses_all_candidates or embedded_query.alpha > 0)
    lexical_counts = query.by_legs and (uses_all_candidates or leg_share(chunks) < 1)
    candidates = (
        *(chunks.dense if dense_counts else ()),
        *(chunks.lexical if lexical_counts else ()),
    )
    vector = embedded_query.dense
    reads_documents = query.expand or query.summaries or query.reads_times or query.reads_popularity
    widened_chunks = selected.examined if reads_documents else ()
    return AnswerDependencies(
        scope=prepared.scope,
        query=query,
        space=embedded_query.space,
        languages=prepared.languages,
        vocabulary_size=prepared.spelling.words,
        dense=np.zeros(0, np.float32) if vector is None else vector.to_numpy().astype(np.float32),
        lexical=prepared.terms.weights,
        alpha=embedded_query.alpha,
        fused_floor=_fused_floor(query, found.ranking, selected),
        dense_floor=_leg_floor(chunks.dense, query) if dense_counts else math.inf,
        lexical_floor=_leg_floor(chunks.lexical, query) if lexical_counts else math.inf,
        candidates=tuple({candidate.chunk_id: None for candidate in candidates}),
        examined=selected.examined,
        documents=tuple(
            {chunks.rows[chunk_id]["document_key"]: None for chunk_id in widened_chunks}
        ),
        reads_all_documents=query.reads_all_documents,
        exact=chunks.exact,
    )


def _leg_floor(leg: Sequence[Candidate], query: Query) -> float | None:
    return leg[-1].score if len(leg) == query.candidates else None


def _fused_floor(query: Query, ranking: Sequence[FusedChunk], selected: SelectedHits) -> float:
    """The score below which no chunk is examined; infinite where legs alone decide."""
    if query.fusion != "absolute":
        return math.inf
    score_min = query.min_score or 0.0
    if len(selected.hits) == query.top_k and not query.reorders:
        return max(score_min, ranking[len(selected.examined) - 1].score)
    return max(score_min, ranking[-1].score) if len(ranking) == query.depth else score_min
