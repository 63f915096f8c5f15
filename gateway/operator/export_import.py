"""A tenant written to a file, and read back: what `nearhit export` and `nearhit import` do."""

import asyncio
from collections.abc import Callable
from typing import BinaryIO

import orjson
from pydantic import ValidationError

from gateway.admin.tenant_schemas import TenantBody
from gateway.errors import CommandError
from gateway.operator import operations
from gateway.settings import Settings
from gateway.sources.source_schemas import SourceBody
from index.documents.event_versions import Reading
from index.documents.export import ReadSource, Snapshot, snapshot
from index.documents.source_store import SourceConfig, SourceStore
from index.errors import SourceReserved, TenantMissing
from ingest.archive import FORMAT, Archive, End, GroupLine, Header, SourceLine, encode_line
from ingest.sources.source import RefusedItem
from ingest.sources.source_sync import Report, read_items


async def export_tenant(
    settings: Settings, tenant: str, to: BinaryIO, on_page: Callable[[int, int], None]
) -> int:
    """How many documents were written; all is as of one instant.

    on_page: is told how many are written, and of how many.
    """
    async with operations.retry_while_busy(settings) as database:
        try:
            async with snapshot(database, tenant) as seen:
                return await _write(seen, tenant, to, on_page)
        except TenantMissing as missing:
            raise CommandError(str(missing)) from None


async def _write(
    seen: Snapshot, tenant: str, to: BinaryIO, on_page: Callable[[int, int], None]
) -> int:
    header = Header(
        format=FORMAT,
        tenant=tenant,
        name=seen.name,
        revision=seen.revision,
        documents=seen.documents,
    )
    to.write(encode_line(header))
    groups, sources = await seen.groups(), await seen.sources()
    to.writelines(
        encode_line(GroupLine(group=each.group_id, members=each.members)) for each in groups
    )
    to.writelines(map(encode_line, map(_source_line, sources)))
    done = 0
    async for page in seen.pages():
        to.writelines(map(encode_line, page))
        done += len(page)
        on_page(done, seen.documents)
    to.write(encode_line(End(documents=done)))
    to.flush()
    return done


def _source_line(source: ReadSource) -> SourceLine:
    return SourceLine(
        source=source.source,
        reads=source.kind,
        settings=dict(source.settings),
        schedule=source.schedule,
    )


async def import_tenant(
    settings: Settings, archive: Archive, tenant: str, on_item: Callable[[Report], None]
) -> Report:
    """Write all that is in the archive to the tenant, which is created if there is none.

    What is there already costs a look; a source is paused, until somebody says that it may be read
    from here.
    """
    body = TenantBody(id=tenant)
    async with operations.services(settings) as opened:
        await opened.stores.tenants.create(body.id, archive.header.name)
        if not await opened.stores.tenants.exists(body.id):
            raise CommandError(f"the tenant {tenant} is being deleted")
        reading = Reading(await opened.stores.documents.next_sequence())
        refused = []
        for line in await asyncio.to_thread(list, archive.preamble()):
            match line:
                case GroupLine():
                    await opened.stores.tenants.put_group(tenant, line.group, line.members)
                case SourceLine():
                    try:
                        await _put_source(opened.stores.sources, tenant, line)
                    except ValidationError as error:
                        refused.append(RefusedItem(line.source, error.errors()[0]["msg"]))
                    except SourceReserved as reserved:
                        refused.append(RefusedItem(line.source, str(reserved)))
        report, _ = await read_items(
            archive.documents(),
            tenant,
            writer=opened.documents.writer,
            on_item=on_item,
            reading=reading,
        )
    report.refused += refused
    return report


async def _put_source(sources: SourceStore, tenant: str, line: SourceLine) -> None:
    """Raises pydantic's `ValidationError`, and `SourceReserved`."""
    there = await sources.get(tenant, line.source)
    if there is not None and there.kind is not None:
        return
    told = {"kind": line.reads, "settings": line.settings, "schedule": line.schedule}
    body = SourceBody.model_validate_json(orjson.dumps(told)).root
    settings = body.settings.model_dump(mode="json")
    plan = SourceConfig(body.kind, settings, body.schedule, paused=True, next_run_at=None)
    await sources.put(tenant, line.source, plan)
