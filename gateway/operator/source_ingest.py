"""What `nearhit ingest` does with a source: read it, remove what is missing, follow a folder."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from gateway.admin.tenant_schemas import TenantBody
from gateway.operator import operations
from gateway.settings.settings import Settings
from index.sources.source_origins import SourceOrigins
from ingest.sources.folder import FolderSource
from ingest.sources.origin import Origin, OriginDocuments
from ingest.sources.pruning import ANY_NUMBER, PrunePolicy
from ingest.sources.report import Report
from ingest.sources.source import Source
from ingest.sources.source_sync import read_source, remove_missing
from ingest.sources.watch import Watch, changes


def _say_nothing(_tenant: str) -> None:
    """The tenant is no news to the caller."""


async def ingest(
    settings: Settings,
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

    on_new_tenant: is called with a tenant that was created, before anything is read.
    may_publish: whether documents may be public. Raises `SourceReserved` if the source has another
    origin.
    """
    async with _origin_documents(settings, source, tenant, origin, on_new_tenant) as documents:
        return await read_source(
            source,
            tenant,
            writer=documents,
            documents=documents,
            prune=prune,
            on_item=on_item,
            may_publish=may_publish,
            is_whole=not isinstance(source, FolderSource) or source.is_folder,
        )


async def remove_pending(
    settings: Settings, source: Source, tenant: str, origin: Origin, report: Report
) -> None:
    """Remove the documents that a reading has kept, and count them in its report."""
    pending = report.pending
    assert pending is not None, "the caller has asked about them"
    async with _origin_documents(settings, source, tenant, origin) as documents:
        await remove_missing(
            report,
            pending.document_ids,
            pending.stored,
            tenant,
            documents,
            pending.reading,
            ANY_NUMBER,
        )


async def watch(
    settings: Settings,
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
    async with _origin_documents(settings, source, tenant, origin, on_new_tenant) as documents:
        watch = Watch(
            source,
            tenant,
            writer=documents,
            documents=documents,
            prune=prune,
            on_report=on_report,
            on_failure=on_failure,
            may_publish=may_publish,
        )
        await watch.run(changes(source))


@asynccontextmanager
async def _origin_documents(
    settings: Settings,
    source: Source,
    tenant: str,
    origin: Origin,
    on_new_tenant: Callable[[str], None] = _say_nothing,
) -> AsyncIterator[OriginDocuments]:
    body = TenantBody(id=tenant)
    async with operations.acting_services(settings) as services:
        if await services.stores.tenants.create(body.id, body.id):
            on_new_tenant(body.id)
        origins = SourceOrigins(services.stores.database)
        number = await origins.register(tenant, source.name, origin.name, joins=origin.joins)
        yield OriginDocuments(
            origins, source.name, number, services.documents.writer, services.stores.documents
        )
