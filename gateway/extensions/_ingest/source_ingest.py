"""What `nearhit ingest` does with a source: read it, remove what is missing, follow a folder."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from gateway.extension import Services, TenantBody
from gateway.extensions._ingest.origin import Origin, OriginDocuments
from gateway.extensions._ingest.source_origins import SourceOrigins
from gateway.extensions._ingest.watch import Watch, changes
from gateway.extensions._sources.folder import FolderSource
from gateway.extensions._sources.source import Source
from gateway.extensions._sources.sync.pruning import PrunePolicy
from gateway.extensions._sources.sync.report import Report
from gateway.extensions._sources.sync.source_sync import SourceSync


def _say_nothing(_tenant: str) -> None:
    """The tenant is no news to the caller."""


async def ingest(
    opening: AbstractAsyncContextManager[Services],
    source: Source,
    tenant: str,
    origin: Origin,
    *,
    prune: PrunePolicy | None,
    on_item: Callable[[Report], None],
    on_new_tenant: Callable[[str], None] = _say_nothing,
    may_publish: bool = False,
) -> Report:
    """Read a source into a tenant, which is created if it does not exist.

    opening: all services, as a command opens them.
    on_new_tenant: is called with a tenant that was created, before anything is read.
    may_publish: whether documents may be public. Raises `SourceReserved` if the source has another
    origin.
    """
    async with _opened(opening, source, tenant, origin, on_new_tenant) as documents:
        sync = SourceSync(source, tenant, documents, documents, prune, may_publish)
        is_whole = not isinstance(source, FolderSource) or source.is_folder
        return await sync.read(on_item, is_whole=is_whole)


async def remove_pending(
    opening: AbstractAsyncContextManager[Services],
    source: Source,
    tenant: str,
    origin: Origin,
    report: Report,
) -> None:
    """Remove the documents that a reading has kept, and count them in its report."""
    async with _opened(opening, source, tenant, origin) as documents:
        await SourceSync(source, tenant, documents, documents, prune=None).remove_pending(report)


async def watch(
    opening: AbstractAsyncContextManager[Services],
    source: FolderSource,
    tenant: str,
    origin: Origin,
    *,
    prune: PrunePolicy,
    on_report: Callable[[Report], None],
    on_failure: Callable[[str], None],
    on_new_tenant: Callable[[str], None] = _say_nothing,
    may_publish: bool = False,
) -> None:
    """Follow the changes of a folder until cancelled; create the tenant if it does not exist."""
    async with _opened(opening, source, tenant, origin, on_new_tenant) as documents:
        sync = SourceSync(source, tenant, documents, documents, prune, may_publish)
        watch = Watch(source, sync, on_report=on_report, on_failure=on_failure)
        await watch.run(changes(source))


@asynccontextmanager
async def _opened(
    opening: AbstractAsyncContextManager[Services],
    source: Source,
    tenant: str,
    origin: Origin,
    on_new_tenant: Callable[[str], None] = _say_nothing,
) -> AsyncIterator[OriginDocuments]:
    body = TenantBody(id=tenant)
    async with opening as services:
        if await services.stores.tenants.create(body.id, body.id):
            on_new_tenant(body.id)
        origins = SourceOrigins(services.stores.database)
        number = await origins.register(tenant, source.name, origin.name, joins=origin.joins)
        yield OriginDocuments(
            origins, source.name, number, services.documents.writer, services.stores.documents
        )
