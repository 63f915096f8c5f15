"""Whichever way a search goes, wherever chunks stand, it finds what brute force finds."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.extensions.embedded_servers.owned_servers import Servers
from index.documents.partitions import Partitions
from index.embedders.static_embedder import StaticEmbedder
from index.model.document import Document
from index.model.query import Filter, Query
from index.model.scope import ScopeName, everything
from index.search.searcher import Searcher
from index.search.tables.strategy import StrategyLimits
from tests.conftest import fresh_settings
from tests.database_copies import DatabaseCopies
from tests.index.conftest import connected
from tests.index.support import many_chunks, questions, worlds
from tests.index.support.questions import SCOPES, QuestionWorld
from tests.index.support.worlds import IndexPrincipal
from tests.sampling import examples

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

WAYS = {"exact": many_chunks.EXACT, "nearest": many_chunks.NEAREST}


@dataclass(frozen=True, slots=True)
class Layout:
    """Where chunks stand: each tenant of so many chunks has a partition, if everybody has so many.

    everything_public: so that the shared partition holds enough for an index.
    """

    chunks_max: int
    everything_public: bool = False


# Of the tenants beta has 129 chunks, gamma 128 and acme 116.
LAYOUTS = {
    "all-on-one": Layout(10_000),
    "all-on-one-with-an-index": Layout(300, everything_public=True),
    "the-largest-apart": Layout(129),
    "each-apart": Layout(1),
}


class Laid:
    """A world, its searchers by the way that they go, and the names of the statements so far."""

    def __init__(self, world: QuestionWorld, ran: list[str]) -> None:
        self.world = world
        self.ran = ran
        self.searchers = {
            way: Searcher(world.database, world.embedder, limits=limits)
            for way, limits in WAYS.items()
        }


def made_up(layout: Layout) -> Sequence[tuple[str, Document]]:
    documents = worlds.made_up_documents(seed=2026)
    if not layout.everything_public:
        return documents
    return [
        (tenant, replace(document, readers=tuple({**dict.fromkeys(document.readers), "public": 0})))
        for tenant, document in documents
    ]


@asynccontextmanager
async def laid_out(
    layout: Layout,
    servers: Servers,
    databases: DatabaseCopies,
    static_embedder: StaticEmbedder,
) -> AsyncIterator[Laid]:
    ran: list[str] = []
    async with fresh_settings(servers, databases) as own:
        assert own.database_url is not None
        url = own.database_url.get_secret_value()
        async with connected(
            url,
            connections_max=3,
            observe=lambda name, _seconds: ran.append(name),
            statement_timeout_s=10,
        ) as database:
            world = QuestionWorld(database, static_embedder)
            await world.settle(url, made_up(layout))
            limits = StrategyLimits(layout.chunks_max)
            async for _ in Partitions(database, limits=limits).maintain():
                pass
            yield Laid(world, ran)


@pytest.fixture(scope="module", params=list(LAYOUTS))
async def laid(
    request: pytest.FixtureRequest,
    servers: Servers,
    databases: DatabaseCopies,
    static_embedder: StaticEmbedder,
) -> AsyncIterator[Laid]:
    async with laid_out(LAYOUTS[request.param], servers, databases, static_embedder) as made:
        yield made


@pytest.mark.sampled("the-largest-apart")
@settings(max_examples=examples(40), deadline=None)
@given(asking=questions.principals, names=st.sampled_from(SCOPES), query=questions.queries)
async def test_an_exact_pass_finds_what_brute_force_finds(
    laid: Laid, asking: IndexPrincipal, names: tuple[ScopeName, ...], query: Query
) -> None:
    await laid.world.assert_right(laid.searchers["exact"], asking, names, query)


@pytest.mark.sampled("all-on-one-with-an-index")
@settings(max_examples=examples(40), deadline=None)
@given(asking=questions.principals, names=st.sampled_from(SCOPES), query=questions.queries)
async def test_the_lexical_leg_is_exact_with_an_index_too(
    laid: Laid, asking: IndexPrincipal, names: tuple[ScopeName, ...], query: Query
) -> None:
    by_words = replace(query, alpha=0.0, fusion="relative")

    await laid.world.assert_right(laid.searchers["nearest"], asking, names, by_words)


@pytest.mark.sampled("each-apart-wanted2")
@pytest.mark.parametrize("wanted", [Filter(), Filter(sources=("wiki",)), Filter(tags_any=("red",))])
async def test_the_dense_leg_misses_at_most_one_in_a_hundred_with_an_index(
    laid: Laid, wanted: Filter
) -> None:
    scopes = [
        everything(tenant, "ana", worlds.GROUPS, receives_public=True) for tenant in worlds.TENANTS
    ]
    texts = [word for words in worlds.WORDS.values() for word in words]
    met = missed = 0

    for scope, text in product(scopes, texts):
        query = Query(text, alpha=1.0, top_k=10, candidates=10, filter=wanted)
        exact = await laid.searchers["exact"].search(scope, query)
        nearest = await laid.searchers["nearest"].search(scope, query)
        ids = {hit.chunk_id for hit in exact.hits}
        met += len(ids)
        missed += len(ids - {hit.chunk_id for hit in nearest.hits})

    assert met > 500
    assert missed <= met / 100


@pytest.mark.sampled("the-largest-apart-acme-1-1")
@pytest.mark.parametrize(
    ("laid", "tenant", "nearest", "exact"),
    [
        ("all-on-one", "acme", 0, 1),
        ("all-on-one-with-an-index", "acme", 2, 0),
        ("the-largest-apart", "beta", 1, 1),
        ("the-largest-apart", "acme", 1, 1),
        ("each-apart", "acme", 3, 0),
    ],
    indirect=["laid"],
)
async def test_each_partition_with_an_index_is_one_pass_and_all_the_rest_if_any_is_another(
    laid: Laid, tenant: str, nearest: int, exact: int
) -> None:
    query = Query("sensor lighthouse", alpha=0.5, candidates=3)

    laid.ran.clear()
    await laid.searchers["nearest"].search(
        everything(tenant, "ana", worlds.GROUPS, receives_public=True), query
    )

    passes = [name for name in laid.ran if name in {"search.nearest", "search.exact"}]
    assert passes == ["search.nearest"] * nearest + ["search.exact"] * exact


@pytest.mark.parametrize("laid", ["each-apart"], indirect=True)
async def test_a_graph_that_leads_to_too_little_is_made_good_by_an_exact_pass(laid: Laid) -> None:
    """So many chunks are wanted as nobody has."""
    query = Query("sensor", alpha=0.5, candidates=1000, top_k=1000)
    scope = everything("acme", "ana", [], receives_public=True)

    laid.ran.clear()
    found = await laid.searchers["nearest"].search(scope, query)

    ran = [name for name in laid.ran if name.startswith("search.")]
    assert ran[:2] == ["search.survey", "search.nearest"]
    assert ran[-1] == "search.exact"
    assert found == await laid.searchers["exact"].search(scope, query)
