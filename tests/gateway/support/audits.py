"""What `nearhit audit` finds."""

from collections import Counter

from gateway.cli import operations
from gateway.extensions.audits import cache_audit_run
from gateway.extensions.audits.cache_auditor import Verdict
from gateway.settings.settings import Settings


async def audited(settings: Settings, *tenants: str) -> Counter[Verdict]:
    """The number of cached answers of the tenants, or of all, by verdict."""
    counts: Counter[Verdict] = Counter()
    async with operations.acting_services(settings) as services:
        names = await operations.resolve_tenants(services.stores.tenants, tenants)
        async for _, _, verdict in cache_audit_run.verdicts(services, names):
            counts[verdict] += 1
    return counts
