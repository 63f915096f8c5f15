"""Where documents are read from, as a name that tells two folders with the same name apart."""

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gateway.extensions._ingest.source_origins import SourceOrigins
from gateway.extensions._sources.source import DocumentOfOtherOrigin
from index.documents.document_store import DocumentStore
from index.documents.write_causes import Reading
from index.model.document import Document, DocumentContent
from ingest.write.revision import Outcome, Put, Written
from ingest.write.write_coordination import PipelineLocks
from ingest.write.writer import Writer

_CONTAINER_MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))
_CONTAINER = "container"  # instead of a host name, which each new container has another of


@dataclass(frozen=True, slots=True)
class Origin:
    """name: of the folder, file or repository, the same at each reading.

    joins: whether it may share its source with other origins and with callers.
    """

    name: str
    joins: bool


EXAMPLE = Origin("the example handbook", joins=True)


def place_of(path: Path) -> str:
    """The machine and the path without links, whatever the working directory is."""
    in_container = any(mark.exists() for mark in _CONTAINER_MARKS)
    host = _CONTAINER if in_container else socket.gethostname()
    return f"{host}:{path.resolve()}"


@dataclass(frozen=True, slots=True)
class OriginDocuments:
    """The documents of one origin in a source that it may share with others.

    It is the writer of a reading and lists its stored documents: the reading neither replaces nor
    removes a document of another origin.
    """

    origins: SourceOrigins
    source: str
    origin_no: int
    writer: Writer
    documents: DocumentStore

    async def next_sequence(self) -> int:
        return await self.documents.next_sequence()

    async def of_source(self, tenant: str, source: str) -> list[str]:
        return await self.origins.documents(tenant, source, self.origin_no)

    async def contents(
        self, tenant: str, document_ids: Sequence[str]
    ) -> dict[str, DocumentContent]:
        return await self.documents.contents(tenant, document_ids)

    async def put_all(
        self, tenant: str, puts: Sequence[Put], reading: Reading, locks: PipelineLocks
    ) -> list[Outcome]:
        """`Writer.put_all`; the outcome of another origin's document is `DocumentOfOtherOrigin`."""
        document_ids = {put.document_id for put in puts}
        others = await self.origins.claim(tenant, self.source, self.origin_no, document_ids)
        own = [put for put in puts if put.document_id not in others]
        outcomes = iter(await self.writer.put_all(tenant, own, reading, locks))
        return [
            DocumentOfOtherOrigin(put.document_id) if put.document_id in others else next(outcomes)
            for put in puts
        ]

    async def remove(
        self,
        tenant: str,
        document_id: str,
        permit: Callable[[Document | None], object],
        reading: Reading,
    ) -> Written:
        written = await self.writer.remove(tenant, document_id, permit, reading)
        await self.origins.release(tenant, self.source, self.origin_no, document_id)
        return written
