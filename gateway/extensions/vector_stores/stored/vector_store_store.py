"""Sources that were created as vector stores, and files attached to sources."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Literal, TypeAlias

from gateway.extensions.vector_stores.stored.file_store import FileListing
from index.audit import audit_log
from index.documents import quotas
from index.errors import TenantFull
from index.jobs import job_queue
from index.model.query import Filter
from index.model.quota import Quotas
from index.model.scope import Maker, Scope
from index.model.write_order import ALL_PARTS
from index.postgres import filter_sql
from index.postgres.database import Database

FileStatus: TypeAlias = Literal["in_progress", "completed", "failed"]
FileStatusFilter: TypeAlias = Literal[FileStatus, "cancelled"]  # OpenAI's; no file has the last


@dataclass(frozen=True, slots=True)
class VectorStore:
    """A source with its description; created_at: None if it was not created as a vector store."""

    source: str
    name: str
    description: str
    metadata: Mapping[str, Any]
    owner: str | None
    readers: Sequence[str]
    created_at: datetime | None


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file of a source. metadata, chunker: of its document, if it exists."""

    file_id: str
    document_id: str
    created_at: datetime
    status: FileStatus
    error_code: str | None
    error: str | None
    metadata: Mapping[str, Any] | None
    chunker: str | None
    size_bytes: int


LOST_S = 3_600.0  # longer than any request takes


@dataclass(frozen=True, slots=True)
class AttachRequest:
    """By whom a file is attached. key_id: None for a web token.

    A request that dies in between makes no file that anybody sees, and is ended after `LOST_S`.
    """

    subject: str
    batch_id: str | None
    key_id: str | None
    request_id: str = field(default_factory=partial(secrets.token_hex, 8))


@dataclass(frozen=True, slots=True)
class FileFilter:
    """The requested files of a source; a field of None matches any file."""

    file_id: str | None = None
    batch_id: str | None = None
    status: FileStatusFilter | None = None


ANY = FileFilter()


class VectorStoreStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self,
        tenant: str,
        *,
        name: str,
        description: str,
        metadata: Mapping[str, Any],
        owner: str,
        readers: Sequence[str],
        stores_max: int,
        default_quotas: Quotas,
    ) -> VectorStore:
        """Raises `TenantFull` if the tenant has `stores_max` vector stores, and `QuotaExceeded`."""
        source = f"vs_{secrets.token_hex(12)}"
        fields = (name, description, dict(metadata), owner, list(readers))
        async with self._database.transaction() as session:
            if await session.row("vector_stores.add_source", tenant, source, stores_max) is None:
                raise TenantFull(tenant, stores_max, "vector stores")
            await quotas.add_source(session, tenant, default_quotas)
            created_at = await session.value("vector_stores.add", tenant, source, *fields)
            await audit_log.append(
                session, tenant, "vector_store.add", source, readers=list(readers)
            )
        return VectorStore(source, name, description, metadata, owner, readers, created_at)

    async def get(self, scope: Scope, source: str, *, by_admin: bool) -> VectorStore | None:
        """The vector store of this name, if it exists and the caller may see it."""
        arguments = (scope.tenant, scope.grants, scope.shared, source, by_admin)
        row = await self._database.row("vector_stores.get", *arguments)
        return None if row is None else VectorStore(**row)

    async def page(
        self, scope: Scope, page: FileListing, *, by_admin: bool, sources: Sequence[str] | None
    ) -> list[VectorStore]:
        """sources: restricts the page to these; None for all."""
        rows = await self._database.rows(
            "vector_stores.page",
            *(scope.tenant, scope.grants, scope.shared),
            *(page.after, by_admin, page.newest_first, page.limit, sources),
        )
        return [VectorStore(**row) for row in rows]

    async def change(
        self, tenant: str, source: str, *, name: str, metadata: Mapping[str, Any]
    ) -> None:
        async with self._database.transaction() as session:
            await session.rows("vector_stores.update", tenant, source, name, dict(metadata))
            await audit_log.append(session, tenant, "vector_store.change", source)

    async def forget(self, tenant: str, source: str) -> None:
        """Forget the store; it finishes all queued writes of its files."""
        async with self._database.transaction() as session:
            rows = await session.rows("vector_stores.documents_of_files", tenant, source)
            files = dict.fromkeys((row["document_id"] for row in rows), ALL_PARTS)
            await job_queue.supersede(session, tenant, files)
            await session.rows("vector_stores.delete", tenant, source)
            await audit_log.append(session, tenant, "vector_store.forget", source)

    async def attach(
        self, tenant: str, source: str, file_id: str, document_id: str, request: AttachRequest
    ) -> datetime:
        """When the file was first attached to the source."""
        arguments = (file_id, document_id, *astuple(request))
        row = await self._database.row("vector_stores.attach", tenant, source, *arguments)
        assert row is not None, "the statement has one row"
        attached_at: datetime = row["created_at"]
        return attached_at

    async def record_file(
        self,
        tenant: str,
        source: str,
        file: AttachedFile,
        request: AttachRequest,
        job_id: str | None,
    ) -> None:
        """Record the result of attaching the file."""
        arguments = (file.file_id, *astuple(request), job_id, file.error_code, file.error)
        await self._database.rows("vector_stores.record_file", tenant, source, *arguments)

    async def detach(self, tenant: str, source: str, file_id: str) -> None:
        await self._database.rows("vector_stores.detach", tenant, source, file_id)

    async def forget_refused(
        self, tenant: str, source: str, file_id: str, request: AttachRequest
    ) -> None:
        """Forget the request, and a file of which no request makes or has made anything."""
        file = (tenant, source, file_id)
        await self._database.rows("vector_stores.end_refused", *file, request.request_id)
        await self._database.rows("vector_stores.forget_refused", *file)

    async def end_lost_requests(self, lost_s: float = LOST_S) -> None:
        """End the requests that began so long ago and have no result: they have died."""
        await self._database.rows("vector_stores.end_lost", lost_s)

    async def of_file(self, tenant: str, file_id: str) -> dict[str, str]:
        """By source to which the file is attached, its document."""
        rows = await self._database.rows("vector_stores.stores_of_file", tenant, file_id)
        return {row["source"]: row["document_id"] for row in rows}

    async def files(
        self,
        scope: Scope,
        document_filter: Filter,
        source: str,
        page: FileListing,
        file_filter: FileFilter = ANY,
        *,
        maker: Maker | None,
    ) -> list[AttachedFile]:
        """The files whose document the scope and the filter admit.

        maker: whose files are found also before their documents exist.
        """
        subject, token_id = (None, None) if maker is None else (maker.subject, maker.token_id)
        arguments = (
            *filter_sql.filter_args(scope, document_filter),
            *(source, subject, token_id, file_filter.batch_id, file_filter.status),
        )
        read = self._database.searching.rows
        if file_filter.file_id is not None:
            rows = await read("search_documents.file", *arguments, file_filter.file_id)
        else:
            newest_first = page.newest_first
            name = "search_documents.newest_files" if newest_first else "search_documents.files"
            rows = await read(name, *arguments, page.after, page.limit)
        return [AttachedFile(**row) for row in rows]
