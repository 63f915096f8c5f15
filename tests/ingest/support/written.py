"""Documents to write, and what tests look up of what was written."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import asyncpg

from index.documents.document_store import DocumentStore
from index.documents.document_writes import CommitOutcome, DocumentWrite
from index.documents.write_causes import WriteCause
from index.model.document import Document
from index.postgres.database import Database
from index.tenants.tenant_store import TenantStore
from tests.index.support.samples import a_document

SECTIONS = [
    f"## Section {number}\n\nNumber {number} tells of harbours.\n\n" for number in range(20)
]
LONG = a_document("long", "".join(SECTIONS))


class WrittenChange(NamedTuple):
    """What the outbox says of one revision."""

    revision: int
    added: set[int]
    removed: set[int]
    touched: set[int]
    moved: set[int]


async def changes_of(
    connection: "asyncpg.Connection[asyncpg.Record]", tenant: str
) -> list[WrittenChange]:
    rows = await connection.fetch(
        "SELECT revision, added_chunks, removed_chunks, updated_chunks, repositioned_chunks"
        " FROM change_log WHERE tenant = $1 ORDER BY 1",
        tenant,
    )
    return [WrittenChange(row[0], *map(set, row[1:])) for row in rows]


async def revision(tenants: TenantStore, tenant: str = "acme") -> int:
    return (await tenants.revisions([tenant]))[tenant].revision


class Overtaken(DocumentStore):
    """Documents among which somebody else gets through just before the first commit."""

    def __init__(self, database: Database, overtake: Callable[[], Awaitable[object]]) -> None:
        super().__init__(database)
        self._overtake: Callable[[], Awaitable[object]] | None = overtake

    async def apply_all(
        self, tenant: str, writes: Sequence[DocumentWrite], by: WriteCause | None = None
    ) -> list[CommitOutcome]:
        overtake, self._overtake = self._overtake, None
        if overtake is not None:
            await overtake()
        return await super().apply_all(tenant, writes, by)


def with_line(line: str) -> Callable[[Document | None], Document]:
    """Adds a section of one line to what is stored."""

    def revise(document: Document | None) -> Document:
        if document is None:
            return a_document("log", f"# {line}\n\n")
        return replace(document, text=f"{document.text}# {line}\n\n")

    return revise


def lines_of(document: Document) -> list[str]:
    return document.text.split("\n\n")[:-1]
