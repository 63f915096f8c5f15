"""The pass over shards: they propose the chunks that may be among the best, and score them.

PostgreSQL confirms that the caller may see the best ones at the revisions of the shards.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from index.model.query import Query
from index.model.scope import PUBLIC, Scope
from index.postgres.database import Database
from index.postgres.session import Row
from index.resident import best_chunks, followed_shard, shard
from index.resident.resident_shards import ResidentShards
from index.resident.shard import Shard, ShardQuestion
from index.search import second_check
from index.search.confirmation import Confirmations, SnapshotCounters
from index.search.search_pass import PassResult, PreparedSearch
from index.search.visibility_args import filter_args

_FOLLOWS_MAX = 3  # how often one search lets its shards catch up with newer commits
# Chunks; with more, PostgreSQL scans as quickly; a starting value, not measured.
_PROPOSED_MAX = 256


@dataclass(frozen=True, slots=True)
class KnownRevisions:
    """Revisions that were read for a caller after its request arrived.

    history: of the database, to which they belong. by_partition: of all partitions of its scope.
    """

    history: str
    by_partition: Mapping[str, int]


class ShardPass:
    """in_region: whether known revisions need no statement that confirms them; see `Searcher`."""

    def __init__(
        self,
        database: Database,
        shards: ResidentShards,
        confirmations: Confirmations,
        *,
        in_region: bool,
    ) -> None:
        self._database = database.searching
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

    async def loaded(
        self, scope: Scope, query: Query, known: KnownRevisions | None
    ) -> Sequence[Shard] | None:
        """The shards for a search; None if they can't answer it, or until they are loaded.

        They are at the known revisions or later ones. Raises `DatabaseUnavailable`.
        """
        if not _can_propose(query):
            return None
        shards = self._shards.use(scope)
        if shards is None or known is None:
            return shards
        return await self._shards.at_least(shards, known.history, known.by_partition)

    async def run(
        self, prepared: PreparedSearch, shards: Sequence[Shard], known: KnownRevisions | None
    ) -> Sequence[PassResult] | None:
        """One pass; None if the shards can't follow, or if PostgreSQL does not confirm it.

        Raises `DatabaseUnavailable` and `Saturated`.
        """
        scope, question = prepared.scope, _to_shard_question(prepared)
        for _ in range(_FOLLOWS_MAX):
            filtered = await self._shards.filtered(shards, scope, question.filter)
            if filtered is None:
                return None
            shards = filtered
            proposed = await shard.propose(shards, question, _PROPOSED_MAX, self._shards.threads)
            if proposed is None:
                return None
            rows = best_chunks.best_chunks(question, proposed)
            if _needs_details(prepared.query):
                await self._read_details(prepared, rows)
            chunk_ids = {row["chunk_id"] for row in rows}
            if self._in_region and known is not None and _has_reached(shards, known):
                is_admitted = len(chunk_ids) == len(rows) and all(
                    second_check.admits(scope, question.filter, row) for row in rows
                )
                return self._result(prepared, shards, rows, is_admitted=is_admitted)
            confirmed = await self._confirmations.confirm(scope, question.filter, [*chunk_ids])
            if followed_shard.is_at(shards, confirmed.history, confirmed.revisions):
                is_admitted = confirmed.visible == len(rows)
                return self._result(prepared, shards, rows, confirmed, is_admitted=is_admitted)
            followed = await self._shards.follow(shards, confirmed.history, confirmed.revisions)
            if followed is None:
                return None
            shards = followed
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

    def _result(
        self,
        prepared: PreparedSearch,
        shards: Sequence[Shard],
        rows: Sequence[Row],
        confirmed: SnapshotCounters | None = None,
        *,
        is_admitted: bool,
    ) -> Sequence[PassResult] | None:
        """The result; None if the second check refuses a row: then the shards are dropped."""
        if not is_admitted:
            self._shards.refuse([each.partition for each in shards])
            return None
        result_head = head(prepared.scope, shards, prepared.embedded_query.space)
        if confirmed is not None:
            result_head |= {
                "tenant_access_revision": confirmed.access_revision,
                "tenant_audience_revision": confirmed.audience_revision,
                "tenant_vocabulary_size": confirmed.vocabulary_size,
            }
        return [PassResult(result_head, rows, exact=True)]


def head(scope: Scope, shards: Sequence[Shard], default_space: str) -> dict[str, Any]:
    """`head` of `search.sql`, of these shards; for `public` only if the scope includes it."""
    by_partition = {each.partition: each for each in shards}
    own, public = by_partition[scope.tenant], by_partition.get(PUBLIC)
    return {
        "history": own.history,
        "tenant_revision": own.revision,
        "public_revision": None if public is None else public.revision,
        "tenant_access_revision": None,
        "tenant_audience_revision": own.stats.audience_revision,
        "tenant_chunks": own.rows,
        "public_chunks": 0 if public is None else public.rows,
        "embedding_space": own.stats.space or default_space,
        "tenant_vocabulary_size": own.stats.vocabulary_size,
        "tenant_languages": own.stats.languages,
        "public_languages": None if public is None else public.stats.languages,
        "confidence": own.stats.confidence,
    }


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
