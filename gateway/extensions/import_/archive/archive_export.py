"""`nearhit export`: writes a tenant as of one instant, however long that takes."""

from collections.abc import Callable, Iterable
from typing import BinaryIO

from pydantic import BaseModel

from gateway.extension import CommandError
from gateway.extensions.import_.archive.archive import (
    FORMAT,
    End,
    GroupLine,
    Header,
    SourceLine,
    encode_line,
)
from index.documents.rows import row_to_document
from index.errors import TenantMissing
from index.model.document import Document
from index.postgres.database import Database
from index.postgres.session import Session

_PAGE_DOCUMENTS = 20  # at most 40 million characters


async def export_tenant(
    database: Database, tenant: str, file: BinaryIO, on_page: Callable[[int, int], None]
) -> int:
    """Write the tenant and return the number of documents. Raises `CommandError`.

    on_page: called with the number of documents written and the total.
    """
    async with database.snapshot() as session:
        stored = await session.row("export.tenant", tenant)
        if stored is None:
            raise CommandError(str(TenantMissing(tenant)))
        total = await session.value("export.count", tenant)
        _write_lines(file, [Header(format=FORMAT, tenant=tenant, documents=total, **stored)])
        groups = await session.rows("export.groups", tenant)
        _write_lines(file, (GroupLine(**group) for group in groups))
        sources = await session.rows("export.sources", tenant)
        _write_lines(file, (SourceLine(**source) for source in sources))
        written = await _write_documents(session, tenant, file, lambda done: on_page(done, total))
        _write_lines(file, [End(documents=written)])
    return written


async def _write_documents(
    session: Session, tenant: str, file: BinaryIO, on_page: Callable[[int], None]
) -> int:
    """All documents, by identifier; returns their number."""
    written, after = 0, ""
    while rows := await session.rows("export.documents", tenant, after, _PAGE_DOCUMENTS):
        _write_lines(file, map(row_to_document, rows))
        written += len(rows)
        after = rows[-1]["document_id"]
        on_page(written)
    return written


def _write_lines(file: BinaryIO, lines: Iterable[BaseModel | Document]) -> None:
    """Raises `CommandError`; the session would take an error of the file for one of the server."""
    try:
        file.writelines(map(encode_line, lines))
        file.flush()
    except OSError as error:
        raise CommandError(f"the export was not written: {error.strerror}") from None
