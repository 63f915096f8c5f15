"""Finds the best chunks of a search: in shards if they can answer it, else in the tables."""

from index.postgres.database import Database
from index.resident.resident_shards import ResidentShards
from index.search.found_chunks import FoundChunks
from index.search.preparation import AskedSearch, SearchPreparer
from index.search.query_embedder import QueryEmbedder
from index.search.shards.confirmation import Confirmations
from index.search.shards.shard_search import KnownRevisions, ShardSearch
from index.search.tables.strategy import StrategyLimits
from index.search.tables.table_search import TableSearch
from index.text.text_threads import text_threads


class SearchExecutor:
    """Of one database. shards: None to search its tables alone. in_region: see `Searcher`."""

    def __init__(
        self,
        database: Database,
        query_embedder: QueryEmbedder,
        *,
        limits: StrategyLimits,
        shards: ResidentShards | None = None,
        in_region: bool = False,
    ) -> None:
        self.confirmations = Confirmations(database.searching)
        self.threads = text_threads()
        preparer = SearchPreparer(database.searching, query_embedder, self.threads)
        self.tables = TableSearch(database, preparer, limits=limits)
        self.shards = None
        if shards is not None:
            self.shards = ShardSearch(
                database, preparer, shards, self.confirmations, in_region=in_region
            )

    async def execute(
        self, asked: AskedSearch, rows_max: int, known: KnownRevisions | None = None
    ) -> FoundChunks:
        """Search the current rows, or those of the known revisions or later ones.

        rows_max: for how many of the best chunks to read a hit's fields; by legs, for all
                  candidates.

        Raises `DatabaseUnavailable`.
        """
        if self.shards is not None:
            found = await self.shards.search(asked, rows_max, known)
            if found is not None:
                return found
        return await self.tables.search(asked, rows_max)
