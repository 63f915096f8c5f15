"""Runs the passes of one search and merges their results.

Most searches are one statement. Each statement also returns the languages and the number of chunks
of its partitions. So a search that was prepared with outdated statistics detects this and runs
again.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from common.shares.cache import FairCache
from index.errors import DatabaseUnavailable
from index.model.query import Query
from index.model.scope import PUBLIC, Scope
from index.postgres.database import Database
from index.postgres.session import Row
from index.resident.resident_shards import ResidentShards
from index.resident.shard import Shard
from index.search import shard_pass, snapshot_reads, strategy
from index.search.confirmation import Confirmations
from index.search.query_embedder import EmbeddedQuery, QueryEmbedder
from index.search.ranking.fusion import Candidate, ScoredChunk
from index.search.search_pass import PassResult, PreparedSearch, pass_arguments, to_pass_result
from index.search.shard_pass import KnownRevisions, ShardPass
from index.search.snapshot_reads import SnapshotReads
from index.search.strategy import PartitionSize, SearchPass, StrategyLimits, VisibilityEstimate
from index.search.visibility_args import filter_args
from index.text import lexical, long_queries
from index.text.vocabulary import Spelling, Vocabulary
from index.text.vocabulary_extent import Extent

_STATS_MAX = 10_000  # sets of partitions whose statistics are stored
_PREPARATIONS_MAX = 20  # repeats only after a commit that changed languages, words or the space
# A graph is asked for this many times a leg's candidates, so that they include the best by both
# scores: of the first ten of 200,000 chunks, ten of each text, 1 found 0.98 and 4 found all.
_GRAPH_FACTOR = 4
_SPLIT_ATTEMPTS_MAX = 3  # at passes of one revision; after them one exact pass runs


@dataclass(frozen=True, slots=True)
class PassResults:
    """The merged results of all passes.

    scored: the best chunks, as many as requested, and the candidates of the legs; in any
        order.
    dense, lexical: the legs, best first, ties to the lower chunk id; empty if the query is not by
        legs.
    rows: by chunk id, the fields of a hit.
    history, revisions: of the database and of each partition, when the passes read them.
    access_revision: of the tenant's keys and groups, likewise; None without a tenant.
    audience_revision: of the tenant's audiences, likewise.
    languages: of the documents of the partitions, in which the query's words were analysed.
    spelling: the corrections of unknown query words.
    embedded_query, query_terms: the query as the dense and the lexical leg compared it.
    exact: whether no pass used a graph.
    confidence: the tenant's stored confidence settings.
    extras: what the query needs beside the passes.
    """

    scored: Sequence[ScoredChunk]
    dense: Sequence[Candidate]
    lexical: Sequence[Candidate]
    rows: Mapping[int, Row]
    history: str
    revisions: Mapping[str, int]
    access_revision: int | None
    audience_revision: int
    languages: frozenset[str]
    spelling: Spelling
    embedded_query: EmbeddedQuery
    query_terms: Mapping[int, float]
    exact: bool
    confidence: Mapping[str, Any] | None
    extras: SnapshotReads


@dataclass(frozen=True, slots=True)
class _ScopeStats:
    """The statistics of a scope's partitions at the last search."""

    space: str | None
    languages: frozenset[str]
    size: PartitionSize
    vocabulary: Extent


class SearchExecutor:
    """Searches in PostgreSQL; with shards in memory, whose answers PostgreSQL confirms.

    in_region: see `Searcher`.
    """

    def __init__(
        self,
        database: Database,
        query_embedder: QueryEmbedder,
        *,
        limits: StrategyLimits,
        shards: ResidentShards | None = None,
        in_region: bool = False,
    ) -> None:
        self._database = database.searching
        self.confirmations = Confirmations(database.searching)
        self._shard_pass = None
        if shards is not None:
            self._shard_pass = ShardPass(database, shards, self.confirmations, in_region=in_region)
        self._query_embedder = query_embedder
        self._limits = limits
        self._vocabulary = Vocabulary(database)
        self._stats: FairCache[tuple[str, ...], _ScopeStats] = FairCache(_STATS_MAX)

    async def execute(
        self,
        scope: Scope,
        query: Query,
        rows_max: int,
        embedded_query: EmbeddedQuery | None = None,
        known: KnownRevisions | None = None,
    ) -> PassResults:
        """Search the current rows, or those of the known revisions or later ones.

        rows_max:       for how many of the best chunks to read a hit's fields; by legs, for all
                        candidates.
        embedded_query: of an earlier execution; used if the index still has its space.

        Raises `DatabaseUnavailable`.
        """
        stats, shards = self._stats.get(scope.partitions), None
        if self._shard_pass is not None:
            shards = await self._shard_pass.loaded(scope, query, known)
        if shards:
            default_space = self._query_embedder.default_space
            stats = _to_scope_stats(scope, shard_pass.head(scope, shards, default_space))
        for attempt in range(_PREPARATIONS_MAX):
            estimate = None
            if stats is None or not (
                shards or stats.size.is_small(self._limits, others=scope.public)
            ):
                estimate, stats = await self._estimate_and_store(scope, query)
            space = stats.space or self._query_embedder.default_space
            if embedded_query is None or embedded_query.space != space:
                embedded_query = await self._query_embedder.embed(scope, query, space)
            prepared = await self._prepare(scope, query, rows_max, embedded_query, stats, shards)
            extras = snapshot_reads.NOTHING
            if shards and self._shard_pass is not None:
                results = await self._shard_pass.run(prepared, shards, known)
                shards = shards if results else None
            else:
                # Summaries alone are too few for a graph of all chunks to lead to.
                may_use_graph = attempt < _SPLIT_ATTEMPTS_MAX and "text" in query.filter.kinds
                results, extras = await self._run_in_snapshot(
                    prepared, estimate if may_use_graph else None
                )
            if results is None:
                continue
            stats = self._remember(scope, _to_scope_stats(scope, results[0].head))
            if (
                stats.space == embedded_query.space
                and stats.languages == prepared.languages
                and prepared.spelling.holds(stats.vocabulary)
            ):
                return _merge_results(prepared, results, extras)
            # Since the last search a language, a word or another space was added: search again.
            if shards and self._shard_pass is not None:
                shards = await self._shard_pass.loaded(scope, query, known)  # with the word
        raise DatabaseUnavailable("concurrent writes keep changing the visible documents")

    def _remember(self, scope: Scope, stats: _ScopeStats) -> _ScopeStats:
        if stats != self._stats.get(scope.partitions):  # to look takes less time than to put
            self._stats.put(scope.tenant, scope.partitions, stats)
        return stats

    def has_shards(self, scope: Scope, query: Query) -> bool:
        """Whether shards would propose for the query now."""
        return self._shard_pass is not None and self._shard_pass.is_likely(scope, query)

    def is_in_memory(self, scope: Scope, query: Query) -> bool:
        """Whether shards would answer the query now, without PostgreSQL."""
        return self._shard_pass is not None and self._shard_pass.is_in_memory(scope, query)

    def is_in_memory_at(self, scope: Scope, query: Query, known: KnownRevisions) -> bool:
        """Whether shards would answer the query at these revisions, without their changes."""
        return self._shard_pass is not None and self._shard_pass.is_in_memory_at(
            scope, query, known
        )

    async def _prepare(
        self,
        scope: Scope,
        query: Query,
        rows_max: int,
        embedded_query: EmbeddedQuery,
        stats: _ScopeStats,
        shards: Sequence[Shard] | None,
    ) -> PreparedSearch:
        # All, whatever the query's own: no chunk of the scope has another.
        languages = stats.languages
        if not lexical.are_loaded(languages):  # only until this machine has stored their lists
            await asyncio.to_thread(lexical.load, languages)
        spelling = await self._vocabulary.spelling(
            scope,
            query.text if query.corrects else "",
            languages,
            extent=stats.vocabulary,
            is_filtered=query.filter.is_narrow,
            resident=next((each.words for each in shards or () if each.words), None),
        )
        return PreparedSearch(
            scope=scope,
            query=query,
            rows_max=rows_max,
            embedded_query=self._query_embedder.weigh(embedded_query, query, languages),
            languages=languages,
            spelling=spelling,
            terms=long_queries.terms(query.text, languages, spelling.corrections),
        )

    async def estimate_visibility(self, scope: Scope, query: Query) -> VisibilityEstimate:
        """Estimate how many chunks are visible. Raises `DatabaseUnavailable`."""
        return (await self._estimate_and_store(scope, query))[0]

    async def _estimate_and_store(
        self, scope: Scope, query: Query
    ) -> tuple[VisibilityEstimate, _ScopeStats]:
        row = await self._database.row(
            "search.survey",
            *filter_args(scope, query.filter),
            True,
            scope.public,
            self._limits.crossover_chunks,
        )
        assert row is not None, "there is always a row for 'public'"
        stats = _to_scope_stats(scope, row)
        estimate = VisibilityEstimate(
            size=stats.size,
            own_share=row["own_share"] or 0.0,
            others_share=row["others_share"] or 0.0,
            partition_no=row["partition_no"] or 0,
            width=row["dimensions"],
            others_partitions=dict(
                zip(row["others_partitions"], row["others_dimensions"], strict=True)
            ),
            others_elsewhere=row["others_elsewhere"],
            history=row["history"],
            revisions=(row["tenant_revision"] or 0, row["public_revision"]),
        )
        return estimate, stats

    async def _run_in_snapshot(
        self, prepared: PreparedSearch, estimate: VisibilityEstimate | None
    ) -> tuple[Sequence[PassResult] | None, SnapshotReads]:
        """The results of all passes, as `_run_passes`, and what is read in their snapshot."""
        if not prepared.query.needs_snapshot:
            return await self._run_passes(prepared, estimate), snapshot_reads.NOTHING
        async with self._database.snapshot(prepared.scope.tenant):
            results = await self._run_passes(prepared, estimate)
            if results is None:
                return None, snapshot_reads.NOTHING
            return results, await snapshot_reads.read(self._database, prepared, results)

    async def _run_passes(
        self, prepared: PreparedSearch, estimate: VisibilityEstimate | None
    ) -> Sequence[PassResult] | None:
        """The results of all passes at the same revisions; None if a commit came in between.

        estimate: None for a single exact pass, which always reads one revision.
        """
        others = prepared.scope.public
        exact_pass = strategy.exact(others=others)
        passes = (
            [exact_pass]
            if estimate is None
            else strategy.choose(
                estimate, self._limits, others=others, width=prepared.embedded_query.width
            )
        )
        results = [await self._run_pass(prepared, search_pass) for search_pass in passes]
        complete = [result for result in results if result is not None]
        if len(complete) < len(results):  # an index found too few chunks
            return [await self._exact(prepared, exact_pass)]
        if estimate is None or all(result.exact for result in complete):
            return complete
        visible_partitions = slice(len(prepared.scope.partitions))
        states = {(result.history, result.revisions[visible_partitions]) for result in complete}
        is_consistent = states == {(estimate.history, estimate.revisions[visible_partitions])}
        return complete if is_consistent else None

    async def _run_pass(
        self, prepared: PreparedSearch, search_pass: SearchPass
    ) -> PassResult | None:
        if search_pass.way == "nearest":
            return await self._nearest(prepared, search_pass)
        return await self._exact(prepared, search_pass)

    async def _exact(self, prepared: PreparedSearch, search_pass: SearchPass) -> PassResult:
        query = prepared.query
        arguments = pass_arguments(prepared, search_pass, search_pass.left_out)
        if query.by_legs:
            rows = await self._database.rows("search.exact_legs", *arguments, query.candidates)
        else:
            rows = await self._database.rows("search.exact", *arguments)
        return to_pass_result(rows, exact=True)

    async def _nearest(
        self, prepared: PreparedSearch, search_pass: SearchPass
    ) -> PassResult | None:
        """None if the graph found fewer chunks than the query's candidates: there may be more."""
        candidates = _GRAPH_FACTOR * prepared.query.candidates
        if prepared.query.fusion != "absolute":
            # Ranks order the candidates otherwise than the score by which the pass chooses rows.
            prepared = replace(prepared, rows_max=2 * candidates)
        terms = strategy.rarest_terms(prepared.terms.chances, search_pass.visible, candidates)
        result = await self._nearest_with_terms(prepared, search_pass, terms)
        lexical_leg = result.leg("lexical")
        floor = lexical_leg[-1].score if len(lexical_leg) == candidates else 0.0
        sufficient = strategy.sufficient_terms(prepared.terms.weights, floor)
        if not set(sufficient) <= set(terms):
            result = await self._nearest_with_terms(prepared, search_pass, sufficient)
        candidates_min = prepared.query.candidates
        return result if len(result.leg("dense")) >= candidates_min else None

    async def _nearest_with_terms(
        self, prepared: PreparedSearch, search_pass: SearchPass, terms: Sequence[int]
    ) -> PassResult:
        assert prepared.embedded_query.width is not None, (
            "only an embedded query has a nearest chunk"
        )
        rows = await self._database.rows(
            "search.nearest",
            *pass_arguments(prepared, search_pass, [term + 1 for term in terms]),
            _GRAPH_FACTOR * prepared.query.candidates,
            partition_no=search_pass.partition_no,
            dimensions=prepared.embedded_query.width,
        )
        return to_pass_result(rows, exact=False)


def _to_scope_stats(scope: Scope, row: Row) -> _ScopeStats:
    languages = row["tenant_languages"] or ()
    if scope.public:
        languages = (*languages, *(row["public_languages"] or ()))
    size = PartitionSize(row["tenant_chunks"] or 0, row["public_chunks"])
    extent = Extent(row["history"], row["tenant_vocabulary_size"] or 0)
    return _ScopeStats(row["embedding_space"], frozenset(languages), size, extent)


def _merge_results(
    prepared: PreparedSearch,
    results: Sequence[PassResult],
    extras: SnapshotReads = snapshot_reads.NOTHING,
) -> PassResults:
    scope, query = prepared.scope, prepared.query
    revisions = dict(zip((scope.tenant, PUBLIC), results[0].revisions, strict=True))
    hit_rows = [row for result in results for row in result.hit_rows]
    return PassResults(
        scored=[ScoredChunk(row["chunk_id"], row["dense"], row["lexical"]) for row in hit_rows],
        dense=_leg(query, results, "dense"),
        lexical=_leg(query, results, "lexical"),
        rows={row["chunk_id"]: row for row in hit_rows},
        history=results[0].history,
        revisions={partition: revisions[partition] for partition in scope.partitions},
        access_revision=results[0].head["tenant_access_revision"],
        audience_revision=results[0].head["tenant_audience_revision"],
        languages=prepared.languages,
        spelling=prepared.spelling,
        embedded_query=prepared.embedded_query,
        query_terms=prepared.terms.weights,
        exact=all(result.exact for result in results),
        confidence=results[0].head["confidence"],
        extras=extras,
    )


def _leg(query: Query, results: Sequence[PassResult], name: str) -> Sequence[Candidate]:
    if not query.by_legs:
        return ()
    candidates = chain.from_iterable(candidate.leg(name) for candidate in results)
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.chunk_id))[
        : query.candidates
    ]
