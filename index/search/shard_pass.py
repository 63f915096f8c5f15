"""The pass over shards: they propose the chunks that may be among the best.

PostgreSQL scores the proposed chunks and returns their texts. Shards that hold texts do both in
memory, at a revision that was read for the caller.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from index.model.query import Query
from index.model.scope import PUBLIC, Scope
from index.postgres.database import Database
from index.postgres.session import Row
from index.resident import best_chunks, followed_shard, matching_documents, shard
from index.resident.resident_shards import ResidentShards
from index.resident.shard import Shard, ShardQuestion
from index.search import strategy
from index.search.search_pass import PassResult, PreparedSearch, pass_arguments, to_pass_result

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
    def __init__(self, database: Database, shards: ResidentShards) -> None:
        self._database = database.searching
        self._shards = shards

    def is_likely(self, scope: Scope, query: Query) -> bool:
        """Whether shards would propose for the query now."""
        return _can_propose(query) and self._shards.holds(scope, query.filter)

    def is_in_memory(self, scope: Scope, query: Query) -> bool:
        """Whether shards would answer the query now, without PostgreSQL."""
        return _is_answered_by_texts(query) and self._shards.hold_texts(scope)

    def is_in_memory_at(self, scope: Scope, query: Query, known: KnownRevisions) -> bool:
        """As `is_in_memory`, with shards at the known revisions or later ones."""
        return self.is_in_memory(scope, query) and self._shards.have_reached(
            scope, known.history, known.by_partition
        )

    def loaded(self, scope: Scope, query: Query) -> Sequence[Shard] | None:
        """The shards for a search; None if they can't propose, or until they are loaded."""
        return self._shards.use(scope) if _can_propose(query) else None

    async def with_texts(
        self, scope: Scope, query: Query, known: KnownRevisions
    ) -> Sequence[Shard] | None:
        """The shards that answer at the known revisions or later ones; None if they can't.

        Raises `DatabaseUnavailable`.
        """
        if not _is_answered_by_texts(query):
            return None
        shards = await self._shards.at_least(scope, known.history, known.by_partition)
        return shards if shards and all(each.sums for each in shards) else None

    async def run_in_memory(
        self, prepared: PreparedSearch, shards: Sequence[Shard]
    ) -> PassResult | None:
        """One pass over shards that hold texts; None if PostgreSQL has to compare the chunks."""
        question = _to_shard_question(prepared)
        proposed = await shard.propose(shards, question, _PROPOSED_MAX, self._shards.threads)
        if proposed is None:
            return None
        rows = best_chunks.best_chunks(shards, question, proposed)
        return PassResult(head(prepared.scope, shards), rows, exact=True)

    async def run(
        self, prepared: PreparedSearch, shards: Sequence[Shard]
    ) -> Sequence[PassResult] | None:
        """One pass, confirmed by PostgreSQL; None if the shards can't follow, or disagree with it.

        The statement returns the revisions of its snapshot. At the revisions of the shards no other
        chunk could be among the best. Raises `DatabaseUnavailable` and `Saturated`.
        """
        exact_pass = strategy.exact(others=prepared.scope.public)
        question = _to_shard_question(prepared)
        for _ in range(_FOLLOWS_MAX):
            filtered = await self._shards.filtered(shards, question.scope, question.filter)
            if filtered is None:
                return None
            shards = filtered
            proposed = await shard.propose(shards, question, _PROPOSED_MAX, self._shards.threads)
            if proposed is None:
                return None
            arguments = pass_arguments(prepared, exact_pass, proposed)
            rows = await self._database.rows("search.proposed", *arguments)
            result = to_pass_result(rows, exact=True)
            revisions = dict(zip((prepared.scope.tenant, PUBLIC), result.revisions, strict=True))
            if followed_shard.is_at(shards, result.history, revisions):
                if result.head["confirmed"] == len(proposed):
                    return [result]
                self._shards.refuse([each.partition for each in shards])
                return None
            followed = await self._shards.follow(shards, result.history, revisions)
            if followed is None:
                return None
            shards = followed
        return None


def head(scope: Scope, shards: Sequence[Shard]) -> Row:
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
        "embedding_space": own.stats.space,
        "tenant_vocabulary_size": own.stats.vocabulary_size,
        "tenant_languages": own.stats.languages,
        "public_languages": None if public is None else public.stats.languages,
        "confidence": own.stats.confidence,
    }


def _can_propose(query: Query) -> bool:
    return shard.can_answer(query) and query.depth <= _PROPOSED_MAX


def _is_answered_by_texts(query: Query) -> bool:
    """Whether shards hold all that the answer to the query shows and filters by."""
    return (
        _can_propose(query)
        and not query.expand
        and not query.summaries
        and not query.reads_times
        and matching_documents.unindexed_conditions(query.filter) is None
    )


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
