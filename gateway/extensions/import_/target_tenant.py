"""The tenant into which documents are imported."""

from collections.abc import Callable

from gateway.extension import CommandError
from index.tenants.tenant_store import TenantStore


async def create_if_missing(
    tenants: TenantStore, tenant: str, name: str, on_new_tenant: Callable[[str], None]
) -> None:
    """on_new_tenant: is called with a tenant that was created. Raises `CommandError`."""
    if await tenants.create(tenant, name):
        on_new_tenant(tenant)
    elif not await tenants.exists(tenant):
        raise CommandError(f"the tenant {tenant} is being deleted")
