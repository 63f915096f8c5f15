"""`nearhit export`: writes a tenant to a file."""

from collections.abc import Callable, Iterable
from typing import BinaryIO

from pydantic import BaseModel

from gateway.errors import CommandError
from gateway.operator import operations
from gateway.settings.settings import Settings
from index.documents.export import ReadSource, Snapshot, snapshot
from index.errors import TenantMissing
from index.model.document import Document
from ingest.archive import FORMAT, End, GroupLine, Header, SourceLine, encode_line


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
