"""What an answer has to be: a search straight on PostgreSQL, by a searcher that knows nothing yet.

It encodes as the gateway does, so that bodies can be compared byte for byte.
"""

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from gateway.compute import encode
from gateway.wire import SearchBody, parse
from index import database, scope
from index.database import Database
from index.scope import PUBLIC
from index.search import Embedder, Searcher
from index.tenants import Tenants

_CONNECTIONS_MAX = 4
_STATEMENT_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class Fresh:
    """The body, and the revision of each partition that it was computed at."""

    revisions: Mapping[str, int]
    body: bytes


class Oracle:
    def __init__(self, connected: Database, embedder: Embedder) -> None:
        self.database = connected
        self._embedder = embedder
        self._tenants = Tenants(connected)
        self.forget()

    def forget(self) -> None:
        """What a searcher learns by the way, as if it had just started."""
        self._searcher = Searcher(self.database, self._embedder)

    async def revisions(self, tenants: Collection[str]) -> Mapping[str, int]:
        """Of the tenants, and of what is public."""
        found = await self._tenants.revisions([*tenants, PUBLIC])
        return {name: one.revision for name, one in found.items()}

    async def answer(
        self, tenant: str, subject: str, groups: Collection[str], body: bytes
    ) -> Fresh:
        """To a search's body, from somebody of these groups."""
        asked = parse(SearchBody, body)
        seen, query = scope.resolve(tenant, subject, groups, asked.scopes), asked.canonical()
        found = await self._searcher.search(seen, query)
        assert not found.degraded
        return Fresh(found.as_of, encode(found, query))


@asynccontextmanager
async def oracle(url: str, embedder: Embedder) -> AsyncIterator[Oracle]:
    async with database.connect(
        url,
        connections_max=_CONNECTIONS_MAX,
        statement_timeout_s=_STATEMENT_TIMEOUT_S,
        observe=lambda _name, _seconds: None,
    ) as connected:
        yield Oracle(connected, embedder)
