"""A tenant's groups, sources and documents in one snapshot, however long the export takes."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from index.documents.rows import row_to_document
from index.errors import TenantMissing
from index.model.document import Document
from index.postgres.database import Database
from index.postgres.session import Session

_PAGE_DOCUMENTS = 20  # at most 40 million characters


@dataclass(frozen=True, slots=True)
class ExportedGroup:
    group_id: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadSource:
    """A source that Nearhit reads itself."""

    source: str
    kind: str
    settings: Mapping[str, Any]
    schedule: str | None


class Snapshot:
    """A tenant at one revision. documents: the number of its documents."""

    def __init__(
        self, session: Session, tenant: str, name: str, revision: int, documents: int
    ) -> None:
        self._session = session
        self._tenant = tenant
        self.name = name
        self.revision = revision
        self.documents = documents

    async def groups(self) -> list[ExportedGroup]:
        rows = await self._session.rows("export.groups", self._tenant)
        return [ExportedGroup(row["group_id"], tuple(row["members"])) for row in rows]

    async def sources(self) -> list[ReadSource]:
        rows = await self._session.rows("export.sources", self._tenant)
        return [ReadSource(**row) for row in rows]

    async def pages(self) -> AsyncIterator[list[Document]]:
        """All documents, by identifier."""
        after = ""
        while rows := await self._session.rows(
            "export.documents", self._tenant, after, _PAGE_DOCUMENTS
        ):
            yield [row_to_document(row) for row in rows]
            after = rows[-1]["document_id"]


@asynccontextmanager
async def snapshot(database: Database, tenant: str) -> AsyncIterator[Snapshot]:
    """Raises `TenantMissing`."""
    async with database.snapshot() as session:
        row = await session.row("export.tenant", tenant)
        if row is None:
            raise TenantMissing(tenant)
        documents = await session.value("export.count", tenant)
        yield Snapshot(session, tenant, row["name"], row["revision"], documents)
