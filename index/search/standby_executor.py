"""Searches a standby that is nearer than the primary, once it has what the caller must not miss."""

from collections.abc import Mapping
from typing import Protocol

from index.errors import DatabaseUnavailable
from index.model.query import Query
from index.model.scope import Scope
from index.postgres.database import Database
from index.search.query_embedder import EmbeddedQuery
from index.search.search_executor import PassResults, SearchExecutor
from index.search.shard_pass import KnownRevisions


class StandbyDatabase(Protocol):
    @property
    def database(self) -> Database: ...

    async def has_replayed(self, history: str, revisions: Mapping[str, int], /) -> bool:
        """Whether the standby answers, and has these revisions or later ones of the history."""

    def failed(self) -> None:
        """A statement was not answered: `has_replayed` is false for some time."""


class StandbyExecutor:
    """executor: of the standby's database."""

    def __init__(self, standby: StandbyDatabase, executor: SearchExecutor) -> None:
        self.executor = executor
        self._standby = standby

    async def execute(
        self,
        scope: Scope,
        query: Query,
        rows_max: int,
        embedded_query: EmbeddedQuery | None,
        known: KnownRevisions,
    ) -> PassResults | None:
        """As `SearchExecutor.execute`; None if the primary has to be asked.

        Shards that are at the known revisions need no standby.
        """
        if not (
            self.executor.is_in_memory_at(scope, query, known)
            or await self._standby.has_replayed(known.history, known.by_partition)
        ):
            return None
        try:
            results = await self.executor.execute(scope, query, rows_max, embedded_query, known)
        except DatabaseUnavailable:
            self._standby.failed()
            return None
        # Behind a balancer, another standby may have answered.
        has_reached = results.history == known.history and all(
            results.revisions[name] >= revision for name, revision in known.by_partition.items()
        )
        return results if has_reached else None
