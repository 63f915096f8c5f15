"""What a gateway needs in a deployment of several regions."""

from cache.revision_reader import RevisionSource
from gateway.regions.announcer import Announcer
from gateway.regions.lease_keeper import LeaseKeeper
from gateway.settings.settings import Settings
from index.postgres.database import Database
from index.regions.read_lease_store import ReadLeaseStore
from index.tenants.tenant_store import TenantRevisions


def announcer(settings: Settings) -> Announcer:
    return Announcer(settings.read_lease_s if settings.region else 0.0)


def lease_keeper(
    settings: Settings, database: Database, primary: RevisionSource[TenantRevisions]
) -> LeaseKeeper:
    """For a gateway of a region. primary: reads the counters of tenants that are not known yet."""
    assert settings.region is not None, "only a gateway of a region holds a lease"
    store = ReadLeaseStore(database)
    return LeaseKeeper(store, primary, settings.region, duration_s=settings.read_lease_s)
