"""A tenant that is closed: what it made public is found by no other one from then on."""

from collections.abc import AsyncIterator

import pytest

from gateway.extensions.embedded_servers.owned_servers import Servers
from index.embedders.static_embedder import StaticEmbedder
from index.invalidation.changes import ChangeLog
from index.model.query import Query
from index.model.scope import PUBLIC, everything
from index.tenants.tenant_deletion import TenantDeletion
from index.tenants.tenant_store import TenantStore
from tests.database_copies import DatabaseCopies
from tests.index.search.test_strategies import LAYOUTS, Laid, laid_out
from tests.index.support import worlds

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

CHUNKS_OF_BETA = """
SELECT array_agg(chunk_id) FROM chunk_texts JOIN documents USING (document_key)
WHERE tenant = 'beta' AND 'public' = ANY (readers)"""


@pytest.fixture(params=list(LAYOUTS))
async def laid(
    request: pytest.FixtureRequest,
    servers: Servers,
    databases: DatabaseCopies,
    static_embedder: StaticEmbedder,
) -> AsyncIterator[Laid]:
    async with laid_out(LAYOUTS[request.param], servers, databases, static_embedder) as made:
        yield made


@pytest.mark.thorough
async def test_other_tenants_find_nothing_of_a_closed_one_whichever_way_they_search(
    laid: Laid,
) -> None:
    database = laid.world.database
    async with database.session() as session:
        public = set(await session.connection.fetchval(CHUNKS_OF_BETA))
    before = await _found(laid)
    assert all(found & public for found in before.values())
    revisions = await TenantStore(database).revisions(["acme", PUBLIC])

    closed = await TenantDeletion(database).close("beta")

    assert closed is not None
    assert closed.was_public
    after = await _found(laid)
    assert after
    for way, found in after.items():
        assert found, way
        assert not found & public, way
    now = await TenantStore(database).revisions(["acme", PUBLIC])
    assert now["acme"] == revisions["acme"]
    assert now[PUBLIC].revision == revisions[PUBLIC].revision + 1
    news = await ChangeLog(database).changes_after("acme", PUBLIC, revisions[PUBLIC].revision)
    assert news is not None
    assert news.outdated == public
    assert not news.changed_chunks


async def _found(laid: Laid) -> dict[str, set[int]]:
    """By way, the chunks that somebody of acme finds by all words that there are."""
    words = {word for texts in worlds.WORDS.values() for word in texts}
    scope = everything("acme", "ana", worlds.GROUPS, receives_public=True)
    found: dict[str, set[int]] = {way: set() for way in laid.searchers}
    for word in sorted(words):
        query = Query(word, alpha=0.5, top_k=50, candidates=50)
        for way, searcher in laid.searchers.items():
            found[way] |= {hit.chunk_id for hit in (await searcher.search(scope, query)).hits}
    return found
