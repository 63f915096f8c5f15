"""A search over the rows of an earlier revision, as any search of that time was."""

from gateway.extensions.replay.past_store import Past
from index.model.query import Query
from index.model.scope import Scope
from index.search.found_chunks import FoundChunks
from index.search.preparation import AskedSearch, IndexFacts, SearchPreparer
from index.search.searcher import Searcher, SearchResult
from index.search.tables import snapshot_reads, strategy
from index.search.tables.table_search import exact_pass, merge_results
from index.text.text_threads import text_threads
from index.vocabulary.extent import Extent


async def search_past(searcher: Searcher, past: Past, scope: Scope, query: Query) -> SearchResult:
    """searcher: of today, which embeds the query and completes the result.

    Raises `DatabaseUnavailable`, `Saturated` and `VectorRefused`.
    """
    preparer = SearchPreparer(past.statements, searcher.query_embedder, text_threads())
    extent = Extent(past.history, past.vocabulary_size)
    facts = IndexFacts(past.embedding_space, past.languages, extent)
    asked = AskedSearch(scope, query)

    async def find(rows_max: int) -> FoundChunks:
        prepared = await preparer.prepare(asked, rows_max, facts)
        found = await exact_pass(past.statements, prepared, strategy.exact(others=False))
        extras = await snapshot_reads.read(past.statements, prepared, [found])
        return merge_results(prepared, [found], extras)

    return await searcher.result_of(asked, find)
