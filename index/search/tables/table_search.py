"""Searches the tables: runs the passes of one search and merges their results.

Most searches are one statement. Each statement also returns the languages and the number of chunks
of its partitions. So a search that was prepared with outdated facts detects this and runs again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from common.shares.cache import FairCache
from index.errors import DatabaseUnavailable
from index.model.query import Query
from index.model.scope import PUBLIC, Scope
from index.postgres.database import Database
from index.postgres.filter_sql import filter_args
from index.postgres.search_connections import SearchStatements
from index.postgres.session import Row
from index.search.found_chunks import FoundChunks
from index.search.preparation import (
    PREPARATIONS_MAX,
    AskedSearch,
    IndexFacts,
    PreparedSearch,
    SearchPreparer,
)
from index.search.ranking.fusion import Candidate, ScoredChunk
from index.search.tables import snapshot_reads, strategy
from index.search.tables.search_pass import PassResult, pass_arguments, to_pass_result
from index.search.tables.snapshot_reads import SnapshotReads
from index.search.tables.strategy import (
    PartitionSize,
    SearchPass,
    StrategyLimits,
    VisibilityEstimate,
)
from index.vocabulary.extent import Extent

_STATS_MAX = 10_000  # sets of partitions whose statistics are stored
# A graph is asked for this many times a leg's candidates, so that they include the best by both
# scores: of the first ten of 200,000 chunks, ten of each text, 1 found 0.98 and 4 found all.
_GRAPH_FACTOR = 4
_SPLIT_ATTEMPTS_MAX = 3  # at passes of one revision; after them one exact pass runs


@dataclass(frozen=True, slots=True)
class _ScopeStats:
    """Of a scope's partitions, as the last search found them."""

    facts: IndexFacts
    size: PartitionSize


class TableSearch:
    def __init__(
        self, database: Database, preparer: SearchPreparer, *, limits: StrategyLimits
    ) -> None:
        self._database = database.searching
        self._preparer = preparer
        self._limits = limits
        self._stats: FairCache[tuple[str, ...], _ScopeStats] = FairCache(_STATS_MAX)

    async def search(self, asked: AskedSearch, rows_max: int) -> FoundChunks:
        """The best of the current rows. Raises `DatabaseUnavailable` and `Saturated`."""
        scope, query = asked.scope, asked.query
        stats = self._stats.get(scope.partitions)
        for attempt in range(PREPARATIONS_MAX):
            estimate = None
            if stats is None or not stats.size.is_small(self._limits, others=scope.public):
                estimate, stats = await self._survey(scope, query)
            prepared = await self._preparer.prepare(asked, rows_max, stats.facts)
            # Summaries alone are too few for a graph of all chunks to lead to.
            may_use_graph = attempt < _SPLIT_ATTEMPTS_MAX and "text" in query.filter.kinds
            results, extras = await self._run_in_snapshot(
                prepared, estimate if may_use_graph else None
            )
            if results is None:
                continue
            stats = self._remember(scope, _to_scope_stats(scope, results[0].head))
            if prepared.fits(stats.facts):
                return merge_results(prepared, results, extras)
            # Since the last search a language, a word or another space was added: search again.
        raise DatabaseUnavailable("concurrent writes keep changing the visible documents")

    def _remember(self, scope: Scope, stats: _ScopeStats) -> _ScopeStats:
        if stats != self._stats.get(scope.partitions):  # to look takes less time than to put
            self._stats.put(scope.tenant, scope.partitions, stats)
        return stats

    async def estimate_visibility(self, scope: Scope, query: Query) -> VisibilityEstimate:
        """Estimate how many chunks are visible. Raises `DatabaseUnavailable`."""
        return (await self._survey(scope, query))[0]

    async def search_exactly(self, prepared: PreparedSearch) -> FoundChunks:
        """The best chunks of one exact pass, compared as another search was prepared to."""
        search_pass = strategy.exact(others=prepared.scope.public)
        result = await exact_pass(self._database, prepared, search_pass)
        return merge_results(prepared, [result], snapshot_reads.NOTHING)

    async def _survey(self, scope: Scope, query: Query) -> tuple[VisibilityEstimate, _ScopeStats]:
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
        exact = strategy.exact(others=others)
        passes = (
            [exact]
            if estimate is None
            else strategy.choose(
                estimate, self._limits, others=others, width=prepared.embedded_query.width
            )
        )
        results = [await self._run_pass(prepared, search_pass) for search_pass in passes]
        complete = [result for result in results if result is not None]
        if len(complete) < len(results):  # an index found too few chunks
            return [await exact_pass(self._database, prepared, exact)]
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
        return await exact_pass(self._database, prepared, search_pass)

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


async def exact_pass(
    statements: SearchStatements, prepared: PreparedSearch, search_pass: SearchPass
) -> PassResult:
    """A pass that compares every chunk that it sees."""
    query = prepared.query
    arguments = pass_arguments(prepared, search_pass, search_pass.left_out)
    if query.by_legs:
        rows = await statements.rows("search.exact_legs", *arguments, query.candidates)
    else:
        rows = await statements.rows("search.exact", *arguments)
    return to_pass_result(rows, exact=True)


def _to_scope_stats(scope: Scope, row: Row) -> _ScopeStats:
    languages = row["tenant_languages"] or ()
    if scope.public:
        languages = (*languages, *(row["public_languages"] or ()))
    size = PartitionSize(row["tenant_chunks"] or 0, row["public_chunks"])
    extent = Extent(row["history"], row["tenant_vocabulary_size"] or 0)
    facts = IndexFacts(row["embedding_space"], frozenset(languages), extent)
    return _ScopeStats(facts, size)


def merge_results(
    prepared: PreparedSearch, results: Sequence[PassResult], extras: SnapshotReads
) -> FoundChunks:
    """Of passes over the same rows. extras: what was read beside them."""
    scope, query, head = prepared.scope, prepared.query, results[0].head
    revisions = dict(zip((scope.tenant, PUBLIC), results[0].revisions, strict=True))
    hit_rows = [row for result in results for row in result.hit_rows]
    return FoundChunks(
        prepared=prepared,
        scored=[ScoredChunk(row["chunk_id"], row["dense"], row["lexical"]) for row in hit_rows],
        rows={row["chunk_id"]: row for row in hit_rows},
        history=results[0].history,
        revisions={partition: revisions[partition] for partition in scope.partitions},
        access_revision=head["tenant_access_revision"],
        audience_revision=head["tenant_audience_revision"],
        confidence=head["confidence"],
        dense=_leg(query, results, "dense"),
        lexical=_leg(query, results, "lexical"),
        exact=all(result.exact for result in results),
        extras=extras,
    )


def _leg(query: Query, results: Sequence[PassResult], name: str) -> Sequence[Candidate]:
    if not query.by_legs:
        return ()
    candidates = chain.from_iterable(candidate.leg(name) for candidate in results)
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.chunk_id))[
        : query.candidates
    ]
