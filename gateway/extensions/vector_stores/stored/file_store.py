"""Stored files, as they were uploaded."""

import secrets
from dataclasses import astuple, dataclass
from datetime import datetime

from index.audit import audit_log
from index.documents import quotas
from index.errors import TenantFull
from index.model.quota import NO_QUOTAS, Quotas
from index.model.scope import Maker
from index.postgres.database import Database
from index.postgres.session import Row


@dataclass(frozen=True, slots=True)
class File:
    file_id: str
    subject: str
    filename: str
    purpose: str
    size_bytes: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class FileListing:
    """The requested page of a list. after: the last id that was read in this order.

    is_backward: the caller shows the page in the other order, since it reads the list upwards.
    """

    after: str | None
    newest_first: bool
    limit: int
    is_backward: bool = False


class FileStore:
    """maker: whose files are read or removed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self,
        tenant: str,
        subject: str,
        *,
        key_id: str | None,
        filename: str,
        purpose: str,
        content: bytes,
        files_max: int,
        default_quotas: Quotas,
    ) -> File:
        """Raises `TenantFull` if the tenant already has `files_max` files, and `QuotaExceeded`."""
        file_id = f"file-{secrets.token_hex(12)}"
        fields = (subject, filename, purpose, content, files_max, key_id)
        async with self._database.transaction() as session:
            row = await session.row("files.add", tenant, file_id, *fields)
            if row is None:
                raise TenantFull(tenant, files_max, "files")
            await quotas.add_bytes(session, tenant, len(content), default_quotas)
            await audit_log.append(session, tenant, "file.add", file_id, bytes=len(content))
        return File(file_id, subject, filename, purpose, len(content), row["created_at"])

    async def get(self, maker: Maker, file_id: str) -> File | None:
        row = await self._database.row("files.get", *astuple(maker), file_id)
        return None if row is None else _file(row)

    async def content(self, maker: Maker, file_id: str) -> bytes | None:
        row = await self._database.row("files.content", *astuple(maker), file_id)
        if row is None:
            return None
        content: bytes = row["content"]
        return content

    async def page(self, maker: Maker, page: FileListing, *, purpose: str | None) -> list[File]:
        statement = "files.newest_page" if page.newest_first else "files.page"
        arguments = (purpose, page.after, page.limit)
        rows = await self._database.rows(statement, *astuple(maker), *arguments)
        return [_file(row) for row in rows]

    async def remove(self, maker: Maker, file_id: str) -> None:
        async with self._database.transaction() as session:
            row = await session.row("files.remove", *astuple(maker), file_id)
            if row is not None:
                await quotas.add_bytes(session, maker.tenant, -row["size_bytes"], NO_QUOTAS)
                await audit_log.append(session, maker.tenant, "file.remove", file_id)


def _file(row: Row) -> File:
    return File(**row)
