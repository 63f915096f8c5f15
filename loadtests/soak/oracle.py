"""The expected answer, by Nearhit's own searcher, new and directly on PostgreSQL.

It encodes answers as the gateway does, so that bodies can be compared byte for byte.
"""

from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import orjson

from gateway.bodies.schemas import parse
from gateway.extensions._mcp import results
from gateway.search.response_body import encode
from gateway.search.schemas.search_schemas import SearchBody
from index.documents.document_store import DocumentStore
from index.embedders.static_embedder import StaticEmbedder
from index.errors import DatabaseUnavailable
from index.model import scope
from index.model.document import Document
from index.model.query import Filter
from index.model.scope import PUBLIC, SCOPE_NAMES
from index.postgres import database
from index.postgres.database import Database
from index.search.query_embedder import Embedder
from index.search.searcher import Searcher
from index.tenants.tenant_store import TenantStore
from loadtests.soak import reads
from loadtests.soak.reads import Read
from loadtests.workload.viewer import Viewer

T = TypeVar("T")

_CONNECTIONS_MAX = 4
_STATEMENT_TIMEOUT_S = 30.0
_MCP_TOKENS_MAX = 8_000  # as `gateway/settings/groups/limits.py` has it


@dataclass(frozen=True, slots=True)
class FreshAnswer:
    """The body of a fresh search and the revision of each partition."""

    revisions: Mapping[str, int]
    body: bytes


class Oracle:
    def __init__(self, connected: Database, embedder: Embedder) -> None:
        self.database = connected
        self._embedder = embedder
        self._tenants = TenantStore(connected)
        self._documents = DocumentStore(connected)
        self.forget()

    def forget(self) -> None:
        """Forget what the searcher has learnt, as if it had just started."""
        self._searcher = Searcher(self.database, self._embedder)

    async def revisions(self, tenants: Collection[str]) -> Mapping[str, int]:
        """The revisions of the tenants and of the public documents."""
        result = await _retried(lambda: self._tenants.revisions([*tenants, PUBLIC]))
        return {name: counters.revision for name, counters in result.items()}

    async def stored(self, tenant: str, document_id: str) -> Document | None:
        """The document as the database has it."""
        result = await _retried(lambda: self._documents.stored(tenant, document_id))
        return None if result is None else result.document

    async def read(self, viewer: Viewer, groups: Collection[str], read: Read) -> FreshAnswer | None:
        """The answer to a read that searches; None if its searches had different revisions, or the
        database is unavailable.
        """
        try:
            answers = [await self.answer(viewer, groups, body) for body in read.searches]
        except DatabaseUnavailable:
            return None
        if any(answer.revisions != answers[0].revisions for answer in answers):
            return None
        bodies = [answer.body for answer in answers]
        return FreshAnswer(answers[0].revisions, _shown(read, viewer.tenant, bodies))

    async def answer(
        self, viewer: Viewer, groups: Collection[str], body: bytes, *, receives_public: bool = True
    ) -> FreshAnswer:
        """The answer to a search body, for a viewer in these groups.

        receives_public: whether the tenant does, as those of the soak do.
        """
        search_body = parse(SearchBody, body)
        names = [name for name in SCOPE_NAMES if name in {*search_body.scopes} & {*viewer.scopes}]
        who = viewer.tenant, viewer.subject
        resolved = scope.resolve(*who, groups, names, receives_public=receives_public)
        query = search_body.canonical()
        if viewer.sources is not None:
            limits = Filter(sources=tuple(sorted(viewer.sources)))
            query = replace(query, filter=query.filter.narrowed(limits))
        result = await self._searcher.search(resolved, query)
        assert not result.degraded
        return FreshAnswer(result.as_of, encode(result, query))


async def _retried(ask: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Try again on each connection, since a fault may have closed all of them."""
    for _ in range(_CONNECTIONS_MAX):
        with suppress(DatabaseUnavailable):
            return await ask()
    return await ask()


def _shown(read: Read, tenant: str, bodies: Sequence[bytes]) -> bytes:
    match read.path:
        case "batch":
            return b'{"answers":[%b]}' % b",".join(bodies)
        case "mcp search":
            answer = orjson.loads(bodies[0])
            found = results.search(answer, tenant=tenant, tokens_max=_MCP_TOKENS_MAX)
            return orjson.dumps(orjson.loads(found))
        case "vector store":
            return reads.listed(orjson.loads(bodies[0])["hits"])
        case _:
            return bodies[0]


@asynccontextmanager
async def oracle(url: str, embedder: Embedder | None = None) -> AsyncIterator[Oracle]:
    """embedder: the built-in one if None."""
    async with database.connect(
        url,
        connections_max=_CONNECTIONS_MAX,
        statement_timeout_s=_STATEMENT_TIMEOUT_S,
        observe=lambda _name, _seconds: None,
        announce=database.announce_to_nobody,
    ) as connected:
        yield Oracle(connected, embedder or StaticEmbedder())
