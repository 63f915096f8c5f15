"""What a gateway needs in a deployment of several regions."""

from cache.revision_reader import RevisionSource
from gateway.regions.announcer import Announcer
from gateway.regions.lease_keeper import LeaseKeeper
from gateway.settings.settings import Settings
from index.postgres.database import Database
from index.postgres.prepared_ahead import NOTHING_AHEAD, PreparedAhead
from index.regions.read_lease_store import ReadLeaseStore
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
_IN_A_REGION = PreparedAhead(
    requests=_OF_EACH_REQUEST,
    all=(*_OF_EACH_REQUEST, *_OF_WRITES),
    searches=("search.survey", "search.exact"),
)


def announcer(settings: Settings) -> Announcer:
    return Announcer(settings.read_lease_s if settings.region else 0.0)


def lease_keeper(
    settings: Settings, database: Database, primary: RevisionSource[TenantRevisions]
) -> LeaseKeeper:
    """For a gateway of a region. primary: reads the counters of tenants that are not known yet."""
    assert settings.region is not None, "only a gateway of a region holds a lease"
    store = ReadLeaseStore(database)
    return LeaseKeeper(store, primary, settings.region, duration_s=settings.read_lease_s)


def prepared_ahead(settings: Settings) -> PreparedAhead:
    """What a gateway of a region prepares while it starts: near PostgreSQL it saves nothing."""
    return _IN_A_REGION if settings.region else NOTHING_AHEAD
