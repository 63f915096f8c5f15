"""Searches a standby that is nearer than the primary, once it has what the caller must not miss."""

from collections.abc import Mapping
from typing import Protocol

from index.errors import DatabaseUnavailable
from index.postgres.database import Database
from index.search.found_chunks import FoundChunks
from index.search.preparation import AskedSearch
from index.search.search_executor import SearchExecutor
from index.search.shards.shard_search import KnownRevisions


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
        self, asked: AskedSearch, rows_max: int, known: KnownRevisions
    ) -> FoundChunks | None:
        """As `SearchExecutor.execute`; None if the primary has to be asked.

        Shards that are at the known revisions need no standby.
        """
        shards = self.executor.shards
        if not (
            (shards is not None and shards.is_in_memory_at(asked.scope, asked.query, known))
            or await self._standby.has_replayed(known.history, known.by_partition)
        ):
            return None
        try:
            found = await self.executor.execute(asked, rows_max, known)
        except DatabaseUnavailable:
            self._standby.failed()
            return None
        # Behind a balancer, another standby may have answered.
        has_reached = found.history == known.history and all(
            found.revisions[name] >= revision for name, revision in known.by_partition.items()
        )
        return found if has_reached else None
