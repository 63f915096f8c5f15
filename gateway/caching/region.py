"""What an extension does for a process that may be far from PostgreSQL, and what is done without.

`NEARHIT_REGION` says where it runs.
"""

from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from cache.invalidation.drain import ChangeFeed
from cache.revision_reader import RevisionSource
from gateway.monitoring.metrics import Metrics
from gateway.settings.settings import Settings
from index.invalidation.changes import ChangeSet
from index.postgres import read_leases
from index.postgres.database import Database
from index.postgres.prepared_ahead import NOTHING_AHEAD, PreparedAhead
from index.postgres.session import ObserveStatement
from index.search.searcher import StandbyDatabase
from index.tenants.tenant_store import TenantRevisions


class Standby(StandbyDatabase, Protocol):
    """The region's copy of PostgreSQL, which may be behind."""

    def change_feed(self, primary: ChangeFeed[ChangeSet], /) -> ChangeFeed[ChangeSet]:
        """Reads the changes that the copy has; `primary` reads all others."""
        ...


@dataclass(frozen=True, slots=True)
class Region:
    """What a gateway of a region answers by.

    known: the tenants' counters, not less than those of any write that was acknowledged before the
        call; None if they have to be read.
    source: reads them from the primary. standby: None without one.
    """

    known: Callable[[Collection[str]], Mapping[str, TenantRevisions] | None]
    source: RevisionSource[TenantRevisions]
    standby: Standby | None


class RegionProcess(Protocol):
    """ahead: the statements that it prepares while it starts."""

    @property
    def ahead(self) -> PreparedAhead: ...

    async def announce(self, database: Database, tenants: Collection[str], /) -> None:
        """Return when no gateway may answer without these tenants' committed changes.

        Raises `DatabaseUnavailable`.
        """

    def joined(
        self,
        database: Database,
        primary: RevisionSource[TenantRevisions],
        observe: ObserveStatement,
        metrics: Metrics,
        /,
    ) -> AbstractAsyncContextManager[Region | None]:
        """What answers meanwhile beside `database`, the primary, whose counters `primary` reads.

        Raises `CommandError`.
        """
        ...


# For as long as the process may write.
OpenRegion: TypeAlias = Callable[[Settings], AbstractAsyncContextManager[RegionProcess]]


class NoRegion:
    """Of a process that asks PostgreSQL; its writes wait even so for the leases of others."""

    ahead = NOTHING_AHEAD
    announce = staticmethod(read_leases.run_out)

    @asynccontextmanager
    async def joined(self, *_: object) -> AsyncIterator[None]:
        yield None


@asynccontextmanager
async def no_region(_settings: Settings) -> AsyncIterator[RegionProcess]:
    yield NoRegion()
