"""What the counters of a tenant and of the public partition say about a request. Pure."""

from collections.abc import Mapping

from cache.protocol import Revisions
from index.model.scope import PUBLIC
from index.tenants.principals import Principal
from index.tenants.tenant_store import TenantRevisions


def document_revisions(read: Mapping[str, TenantRevisions]) -> Revisions:
    """The revisions of the documents, and of the audiences; all counters are of one history."""
    numbers = {tenant: counters.revision for tenant, counters in read.items()}
    audiences = {
        tenant: counters.audience_revision for tenant, counters in read.items() if tenant != PUBLIC
    }
    return Revisions(read[PUBLIC].history, numbers, audiences)


def is_current(principal: Principal, tenant: TenantRevisions, everyone: TenantRevisions) -> bool:
    """Whether the principal was read at these counters.

    The cached counters of the tenant and of the public partition may be of two histories.
    """
    return (
        principal.history == tenant.history == everyone.history
        and principal.access_revision == tenant.access_revision
    )
