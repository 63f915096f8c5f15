"""Searches shards: they propose the chunks that may be among the best, and score them.

PostgreSQL confirms that the caller may see the best ones at the revisions of the shards.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from index.errors import DatabaseUnavailable
from index.model.query import Query
from index.model.scope import Scope
from index.postgres.database import Database
from index.postgres.filter_sql import filter_args
from index.postgres.session import Row
from index.resident import best_chunks, followed_shard, shard
from index.resident.resident_shards import ResidentShards
from index.resident.shard import Shard, ShardQuestion
from index.search.found_chunks import FoundChunks
from index.search.preparation import (
    PREPARATIONS_MAX,
    AskedSearch,
    IndexFacts,
    PreparedSearch,
    SearchPreparer,
)
from index.search.ranking.fusion import ScoredChunk
from index.search.shards import second_check
from index.search.shards.confirmation import Confirmations, SnapshotCounters
from index.vocabulary.extent import Extent

_FOLLOWS_MAX = 3  # how often one search lets its shards catch up with newer commits
# Chunks; with more, PostgreSQL scans as quickly; a starting value, not measured.
_PROPOSED_MAX = 256
_CHUNK_ID = itemgetter("chunk_id")


@dataclass(frozen=True, slots=True)
class KnownRevisions:
    """Revisions that were read for a caller after its request arrived.

    history: of the database, to which they belong. by_partition: of all partitions of its scope.
    """

    history: str
    by_partition: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Found:
    """The best rows of the shards; confirmed: what PostgreSQL says of them, None if not asked."""

    shards: Sequence[Shard]
    rows: Sequence[Row]
    confirmed: SnapshotCounters | None = None


class ShardSearch:
    """in_region: whether known revisions need no statement that confirms them; see `Searcher`."""

    def __init__(
        self,
        database: Database,
        preparer: SearchPreparer,
        shards: ResidentShards,
        confirmations: Confirmations,
        *,
        in_region: bool,
    ) -> None:
        self._database = database.searching
        self._preparer = preparer
        self._shards = shards
        self._confirmations = confirmations
        self._in_region = in_region

    def is_likely(self, scope: Scope, query: Query) -> bool:
        """Whether shards would answer the query now."""
        return _can_propose(query) and self._shards.holds(scope, query.filter)

    def is_in_memory(self, scope: Scope, query: Query) -> bool:
        """Whether shards would answer the query now at known revisions, without PostgreSQL."""
        return (
            self._in_region
            and not _needs_details(query)
            and query.filter.unindexed is None
            and self.is_likely(scope, query)
        )

    def is_in_memory_at(self, scope: Scope, query: Query, known: KnownRevisions) -> bool:
        """As `is_in_memory`, with shards at the known revisions or later ones."""
        return self.is_in_memory(scope, query) and self._shards.have_reached(
            scope, known.history, known.by_partition
        )

    async def search(
        self, asked: AskedSearch, rows_max: int, known: KnownRevisions | None
    ) -> FoundChunks | None:
        """The best chunks; None if the shards are not loaded, or can't answer the query.

        Raises `DatabaseUnavailable` and `Saturated`.
        """
        if not _can_propose(asked.query):
            return None
        facts = None
        for _ in range(PREPARATIONS_MAX):
            shards = await self._at_known(asked.scope, known)
            if shards is None:
                return None
            facts = facts or _facts(shards)
            prepared = await self._preparer.prepare(asked, rows_max, facts, shards[0].words)
            found = await self._propose_and_confirm(prepared, shards, known)
            if found is None:
                return None
            facts = _facts(found.shards, found.confirmed)
            if prepared.fits(facts):
                return _to_found_chunks(prepared, found)
            # A commit has added a language, a word or a space meanwhile: search again.
        raise DatabaseUnavailable("concurrent writes keep changing the visible documents")

    async def _at_known(self, scope: Scope, known: KnownRevisions | None) -> Sequence[Shard] | None:
        """The scope's shards, at the known revisions or later ones; None until they are loaded."""
        shards = self._shards.use(scope)
        if shards is None or known is None:
            return shards
        return await self._shards.at_least(shards, known.history, known.by_partition)

    async def _propose_and_confirm(
        self, prepared: PreparedSearch, shards: Sequence[Shard], known: KnownRevisions | None
    ) -> _Found | None:
        """None if the shards can't follow a commit, or if the second check refuses a row."""
        scope, question = prepared.scope, _to_shard_question(prepared)
        for _ in range(_FOLLOWS_MAX):
            filtered = await self._shards.filtered(shards, scope, question.filter)
            if filtered is None:
                return None
            shards = filtered
            proposed = await shard.propose(shards, question, _PROPOSED_MAX, self._shards.threads)
            if proposed is None:
                return None
            rows = await best_chunks.best_chunks(question, proposed)
            if _needs_details(prepared.query):
                await self._read_details(prepared, rows)
            chunk_ids = set(map(_CHUNK_ID, rows))
            if self._in_region and known is not None and _has_reached(shards, known):
                is_admitted = len(chunk_ids) == len(rows) and all(
                    second_check.admits(scope, question.filter, row) for row in rows
                )
                return self._admitted(_Found(shards, rows), is_admitted=is_admitted)
            confirmed = await self._confirmations.confirm(scope, question.filter, [*chunk_ids])
            if followed_shard.is_at(shards, confirmed.history, confirmed.revisions):
                is_admitted = confirmed.visible == len(rows)
                return self._admitted(_Found(shards, rows, confirmed), is_admitted=is_admitted)
            followed = await self._shards.follow(shards, confirmed.history, confirmed.revisions)
            if followed is None:
                return None
            shards = followed
        return None

    def _admitted(self, found: _Found, *, is_admitted: bool) -> _Found | None:
        """None if the second check refuses a row: then the shards are dropped."""
        if is_admitted:
            return found
        self._shards.refuse([each.partition for each in found.shards])
        return None

    async def _read_details(self, prepared: PreparedSearch, rows: Sequence[dict[str, Any]]) -> None:
        """Add to the rows what shards lack.

        It is of the shards' revision if this is confirmed afterwards.
        """
        query = prepared.query
        details = await self._database.rows(
            "search.details",
            *filter_args(prepared.scope, query.filter),
            True,
            prepared.scope.public,
            [row["chunk_id"] for row in rows],
            query.expand,
            query.summaries,
        )
        by_chunk = {row["chunk_id"]: row for row in details}
        for row in rows:
            row.update(by_chunk.get(row["chunk_id"], {}))


def _facts(shards: Sequence[Shard], confirmed: SnapshotCounters | None = None) -> IndexFacts:
    """Of these shards; the vocabulary, which grows beside them, is as PostgreSQL confirms it."""
    own = shards[0]  # the tenant's; that of `public` comes after it
    languages = own.stats.languages
    if shards[1:]:
        languages = languages.union(*(each.stats.languages for each in shards[1:]))
    words = own.stats.vocabulary_size if confirmed is None else confirmed.vocabulary_size
    return IndexFacts(own.stats.space, languages, Extent(own.history, words))


def _to_found_chunks(prepared: PreparedSearch, found: _Found) -> FoundChunks:
    own, confirmed, rows = found.shards[0], found.confirmed, found.rows
    return FoundChunks(
        prepared=prepared,
        scored=[ScoredChunk(row["chunk_id"], row["dense"], row["lexical"]) for row in rows],
        rows=dict(zip(map(_CHUNK_ID, rows), rows, strict=True)),
        history=own.history,
        revisions={each.partition: each.revision for each in found.shards},
        access_revision=None if confirmed is None else confirmed.access_revision,
        audience_revision=own.stats.audience_revision
        if confirmed is None
        else confirmed.audience_revision,
        confidence=own.stats.confidence,
    )


def _has_reached(shards: Sequence[Shard], known: KnownRevisions) -> bool:
    return followed_shard.has_reached(shards, known.history, known.by_partition)


def _can_propose(query: Query) -> bool:
    return shard.can_answer(query) and query.depth <= _PROPOSED_MAX


def _needs_details(query: Query) -> bool:
    """Whether the answer shows or reads what shards lack."""
    return query.expand or query.summaries or query.reads_times


def _to_shard_question(prepared: PreparedSearch) -> ShardQuestion:
    embedded_query = prepared.embedded_query
    vector = None if embedded_query.dense is None else embedded_query.dense.to_numpy()
    return ShardQuestion(
        scope=prepared.scope,
        filter=prepared.query.filter,
        vector=None if vector is None else vector.astype(np.float16),
        space=embedded_query.space,
        weights=prepared.terms.weights,
        alpha=embedded_query.alpha,
        count=prepared.rows_max,
    )
