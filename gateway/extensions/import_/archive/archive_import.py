"""`nearhit import FILE`: reads an exported tenant back."""

import asyncio
from collections.abc import Callable

import orjson
from pydantic import ValidationError

from gateway.extension import Services, TenantBody, default_quotas, field_errors
from gateway.extensions._sources.source import RefusedItem
from gateway.extensions._sources.source_body import body_of
from gateway.extensions._sources.source_store import SourceConfig, SourceStore
from gateway.extensions._sources.sync.report import Report
from gateway.extensions._sources.sync.source_sync import read_items
from gateway.extensions.import_.archive.archive import Archive, GroupLine, SourceLine
from gateway.extensions.import_.target_tenant import create_if_missing
from index.documents.write_causes import Reading
from index.errors import QuotaExceeded, SourceReserved
from index.model.provenance import Author


async def import_archive(
    services: Services,
    archive: Archive,
    tenant: str,
    *,
    on_new_tenant: Callable[[str], None],
    on_item: Callable[[Report], None],
    may_publish: bool,
) -> Report:
    """Write the archive to the tenant, which is created if it does not exist.

    on_new_tenant: is called with a tenant that was created, before anything is written to it.
    may_publish: whether its documents may be public; public ones are refused otherwise.

    Unchanged documents are not embedded again. Imported sources are paused until an admin resumes
    them.
    """
    body = TenantBody(id=tenant)
    tenants = services.stores.tenants
    await create_if_missing(tenants, body.id, archive.header.name, on_new_tenant)
    reading = Reading(await services.stores.documents.next_sequence())
    refused = []
    for line in await asyncio.to_thread(list, archive.preamble()):
        match line:
            case GroupLine():
                await tenants.put_group(tenant, line.group, line.members)
            case SourceLine():
                try:
                    await _put_source(services, tenant, line)
                except ValidationError as error:
                    reason = field_errors.message(error.errors()[0])
                    refused.append(RefusedItem(line.source, reason))
                except (SourceReserved, QuotaExceeded) as error:
                    refused.append(RefusedItem(line.source, str(error)))
    report = await read_items(
        archive.documents(),
        tenant,
        writer=services.documents.writer,
        on_item=on_item,
        reading=reading,
        may_publish=may_publish,
        author_of=lambda document: Author(document.provenance),
    )
    for item in refused:
        report.refuse(item)
    return report


async def _put_source(services: Services, tenant: str, line: SourceLine) -> None:
    """Raises pydantic's `ValidationError`, and `SourceReserved`."""
    sources = SourceStore(services.stores.database, default_quotas(services.settings))
    stored = await sources.get(tenant, line.source)
    if stored is not None and stored.kind is not None:
        return
    fields = {"kind": line.reads, "settings": line.settings, "schedule": line.schedule}
    model = body_of([each for each, _ in services.contributions])
    body = model.model_validate_json(orjson.dumps(fields)).root
    settings = body.settings.model_dump(mode="json")
    config = SourceConfig(body.kind, settings, body.schedule, paused=True, next_run_at=None)
    await sources.put(tenant, line.source, config)
