"""`nearhit export` and `nearhit import`: write a tenant to a file and read it back."""

import asyncio
from collections.abc import Callable, Iterable
from typing import BinaryIO

import orjson
from pydantic import BaseModel, ValidationError

from gateway import field_errors
from gateway.admin.tenant_schemas import TenantBody
from gateway.errors import CommandError
from gateway.operator import operations
from gateway.settings.settings import Settings
from gateway.sources.source_schemas import SourceBody
from index.documents.event_versions import Reading
from index.documents.export import ReadSource, Snapshot, snapshot
from index.errors import QuotaExceeded, SourceReserved, TenantMissing
from index.model.document import Document
from index.sources.source_store import SourceConfig, SourceStore
from ingest.archive import FORMAT, Archive, End, GroupLine, Header, SourceLine, encode_line
from ingest.sources.report import Report
from ingest.sources.source import RefusedItem
from ingest.sources.source_sync import read_items


async def export_tenant(
    settings: Settings, tenant: str, file: BinaryIO, on_page: Callable[[int, int], None]
) -> int:
    """Write the tenant as of one instant and return the number of documents.

    on_page: called with the number of documents written and the total.
    """
    async with operations.retry_while_busy(settings) as database:
        try:
            async with snapshot(database, tenant) as tenant_snapshot:
                return await _write(tenant_snapshot, tenant, file, on_page)
        except TenantMissing as missing:
            raise CommandError(str(missing)) from None


async def _write(
    tenant_snapshot: Snapshot, tenant: str, file: BinaryIO, on_page: Callable[[int, int], None]
) -> int:
    header = Header(
        format=FORMAT,
        tenant=tenant,
        name=tenant_snapshot.name,
        revision=tenant_snapshot.revision,
        documents=tenant_snapshot.documents,
    )
    _write_lines(file, [header])
    groups, sources = await tenant_snapshot.groups(), await tenant_snapshot.sources()
    _write_lines(file, [GroupLine(group=group.group_id, members=group.members) for group in groups])
    _write_lines(file, map(_source_line, sources))
    written = 0
    async for page in tenant_snapshot.pages():
        _write_lines(file, page)
        written += len(page)
        on_page(written, tenant_snapshot.documents)
    _write_lines(file, [End(documents=written)])
    return written


def _write_lines(file: BinaryIO, lines: Iterable[BaseModel | Document]) -> None:
    """Raises `CommandError`; the session would take an error of the file for one of the server."""
    try:
        file.writelines(map(encode_line, lines))
        file.flush()
    except OSError as error:
        raise CommandError(f"the export was not written: {error.strerror}") from None


def _source_line(source: ReadSource) -> SourceLine:
    return SourceLine(
        source=source.source,
        reads=source.kind,
        settings=dict(source.settings),
        schedule=source.schedule,
    )


async def import_tenant(
    settings: Settings,
    archive: Archive,
    tenant: str,
    on_item: Callable[[Report], None],
    *,
    may_publish: bool = False,
) -> Report:
    """Write the archive to the tenant, which is created if it does not exist.

    may_publish: whether its documents may be public; public ones are refused otherwise.

    Unchanged documents are not embedded again. Imported sources are paused until an admin resumes
    them.
    """
    body = TenantBody(id=tenant)
    async with operations.acting_services(settings) as services:
        await services.stores.tenants.create(body.id, archive.header.name)
        if not await services.stores.tenants.exists(body.id):
            raise CommandError(f"the tenant {tenant} is being deleted")
        reading = Reading(await services.stores.documents.next_sequence())
        refused = []
        for line in await asyncio.to_thread(list, archive.preamble()):
            match line:
                case GroupLine():
                    await services.stores.tenants.put_group(tenant, line.group, line.members)
                case SourceLine():
                    try:
                        await _put_source(services.stores.sources, tenant, line)
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
        )
    for item in refused:
        report.refuse(item)
    return report


async def _put_source(sources: SourceStore, tenant: str, line: SourceLine) -> None:
    """Raises pydantic's `ValidationError`, and `SourceReserved`."""
    stored = await sources.get(tenant, line.source)
    if stored is not None and stored.kind is not None:
        return
    fields = {"kind": line.reads, "settings": line.settings, "schedule": line.schedule}
    body = SourceBody.model_validate_json(orjson.dumps(fields)).root
    settings = body.settings.model_dump(mode="json")
    config = SourceConfig(body.kind, settings, body.schedule, paused=True, next_run_at=None)
    await sources.put(tenant, line.source, config)
