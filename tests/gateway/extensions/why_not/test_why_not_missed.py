"""A document that the answer lacks because the graph of a large tenant led to another one."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gateway.auth.authenticated_request import AuthenticatedRequest
from gateway.auth.credentials import key_digest
from gateway.auth.tenant_counters import document_revisions
from gateway.extensions.why_not.why_not import MissedDocument, WhyNot
from gateway.http.request.request_context import RequestContext
from gateway.monitoring.metrics import Metrics
from gateway.services import Services, open_services
from gateway.settings.settings import Settings
from index.search.hits import select
from index.search.query_embedder import Embedder
from index.search.searcher import Searcher, SearchResult
from tests.gateway.support.gateways import Caller

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]

BETTER, WORSE = "Annual leave.", "Annual leave of all the staff in the harbour, and sick leave."


@dataclass
class GraphSearcher:
    """Scans of a graph, none of which reaches the document `unreached`; few chunks need none."""

    searcher: Searcher
    unreached: str = ""

    async def search(self, *arguments: Any, **named: Any) -> SearchResult:
        result = await self.searcher.search(*arguments, **named)
        chunks = result.found.chunks
        if chunks.prepared.query.filter.documents is not None:
            return result
        scored = [
            each
            for each in chunks.scored
            if chunks.rows[each.chunk_id]["document_id"] != self.unreached
        ]
        query, reached = chunks.prepared.query, replace(chunks, scored=scored, exact=False)
        return replace(result, found=select(query, reached, query.depth))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.searcher, name)


@pytest.fixture
async def services(settings: Settings, embedder: Embedder) -> AsyncIterator[Services]:
    async with open_services(settings, Metrics(), embedder) as made:
        yield made


async def test_a_document_that_the_graph_did_not_reach_is_missed(
    ana: Caller, services: Services
) -> None:
    await ana.put("better", BETTER)
    await ana.put("worse", WORSE)
    assert await ana.found("annual leave", top_k=1) == ["better"]
    assert ana.key is not None
    held = await services.stores.principals.holder_at(key_digest(ana.key))
    assert held is not None
    principal, counters = held
    revisions = document_revisions(counters)
    caller = AuthenticatedRequest(principal, revisions, revisions)
    graph = GraphSearcher(services.search.searcher, unreached="better")
    why_not = WhyNot(
        replace(services.search, searcher=cast("Searcher", graph)),
        services.stores.visible_documents,
    )
    slot = SimpleNamespace(hold=lambda _size: None, release=lambda _size: None)
    context = SimpleNamespace(slot=slot, threads=services.http.threads.of("acme"))
    missed = MissedDocument(caller, {"query": "annual leave", "top_k": 1}, ("acme", "worse"))

    explained = await why_not.explain(cast("RequestContext[Any]", context), missed)

    # Its rank among what the graph reached is the first, and the answer has another document.
    assert (explained.in_answer, explained.rank, explained.reasons) == (False, None, ("missed",))
    assert explained.change == {"filter": {"documents": ["worse"]}}
    assert await ana.found("annual leave", top_k=1, filter={"documents": ["worse"]}) == ["worse"]
