"""Moves tenants to the next embedder, one after the other."""

from collections.abc import Callable, Sequence

from gateway.extension import CommandError, Services
from gateway.extensions.reembed.embedding_migration import EmbeddingMigration
from gateway.extensions.reembed.errors import NotReembedded
from gateway.extensions.reembed.reembedder import Reembedder, ReembedProgress
from index.errors import TenantMissing
from index.postgres.database import Database


async def move(
    services: Services,
    database: Database,
    names: Sequence[str],
    *,
    on_tenant: Callable[[str, int], Callable[[ReembedProgress], None]],
) -> list[str]:
    """Move the named tenants, or all, to the next embedder; return those that moved.

    One that can't be moved keeps no other from it: `CommandError` at the end tells of each.
    database: with a long timeout.
    on_tenant: called with a tenant and its number of documents; returns the progress callback.
    """
    moved, failures = list[str](), list[str]()
    embedder = services.worker.embedders[-1]
    migration = EmbeddingMigration(database)
    reembedder = Reembedder(
        services.stores.documents,
        migration,
        embedder,
        services.caches.invalidation,
        services.documents.writer.threads,
    )
    existing = await migration.tenants()
    if unknown := [tenant for tenant in names if tenant not in existing]:
        raise CommandError(f"there is no tenant {', '.join(unknown)}")
    for tenant, documents in existing.items():
        if names and tenant not in names:
            continue
        try:
            if await reembedder.run(tenant, embedder.dimensions, on_tenant(tenant, documents)):
                moved.append(tenant)
        except (NotReembedded, TenantMissing) as error:
            failures.append(str(error))
    if failures:
        raise CommandError(" ".join([f"moved: {', '.join(moved) or 'no tenant'}.", *failures]))
    return moved
