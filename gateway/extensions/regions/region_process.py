"""A process of a region: its writes are announced, and as a gateway it holds a read lease."""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

from cache.revision_reader import RevisionSource
from gateway.extension import CommandError, Metrics, Region, Settings
from gateway.extensions._regions.read_lease_store import ReadLeaseStore
from gateway.extensions.regions import standby as standby_of_region
from gateway.extensions.regions.announcer import Announcer
from gateway.extensions.regions.lease_keeper import LeaseKeeper
from gateway.extensions.regions.region_metrics import RegionMetrics
from index.postgres.database import Database
from index.postgres.prepared_ahead import PreparedAhead
from index.postgres.session import ObserveStatement
from index.tenants.tenant_store import TenantRevisions

# The statements of a far gateway's first requests.
_OF_EACH_REQUEST = ("tenants.exists", "principals.holder", "tenants.revisions")
# In the order in which a write runs them.
_OF_WRITES = (
    *("documents.stored", "documents.planned_embeddings", "documents.put_embeddings"),
    *("documents.lock_for_write", "documents.versions", "documents.remove_chunks"),
    *("documents.put", "documents.advance", "audit_log.append"),
    *("read_leases.announce", "change_log.since"),
)


class RegionProcess:
    """region: where it runs. announcer: of its writes."""

    ahead = PreparedAhead(
        requests=_OF_EACH_REQUEST,
        all=(*_OF_EACH_REQUEST, *_OF_WRITES),
        searches=("search.survey", "search.exact"),
    )

    def __init__(self, settings: Settings, region: str, announcer: Announcer) -> None:
        self._settings = settings
        self._region = region
        self._announcer = announcer

    async def announce(self, database: Database, tenants: Collection[str], /) -> None:
        await self._announcer(database, tenants)

    @asynccontextmanager
    async def joined(
        self,
        database: Database,
        primary: RevisionSource[TenantRevisions],
        observe: ObserveStatement,
        metrics: Metrics,
        /,
    ) -> AsyncIterator[Region]:
        """Hold a lease meanwhile. Raises `CommandError` for a standby of another server."""
        own = RegionMetrics(metrics)
        self._announcer.listen(database)
        keeper = LeaseKeeper(
            ReadLeaseStore(database),
            primary,
            self._region,
            duration_s=self._settings.read_lease_s,
            on_held=own.read_lease,
        )
        async with (
            standby_of_region.connect(
                self._settings, database, observe, own.standby_read
            ) as standby,
            keeper.running(),
        ):
            yield Region(keeper.known, keeper, standby)


def check(settings: Settings) -> None:
    """Raises `CommandError` if the standby has no region, or no primary."""
    if settings.replica_url is not None and not (settings.region and settings.database_url):
        raise CommandError(
            "NEARHIT_REPLICA_URL needs NEARHIT_REGION on all gateways and workers, and "
            "NEARHIT_DATABASE_URL, the URL of the primary"
        )


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[RegionProcess]:
    """Raises what `check` raises."""
    check(settings)
    assert settings.region is not None, "the core opens it for a region, or for a standby"
    async with Announcer(settings.read_lease_s).running() as announcer:
        yield RegionProcess(settings, settings.region, announcer)
