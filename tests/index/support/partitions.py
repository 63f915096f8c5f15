"""A tenant that outgrows the shared partition, and what tests look up of its partition."""

from collections.abc import Sequence
from typing import Any

import asyncpg

from index.documents.document_store import DocumentStore
from index.documents.partitions import IndexedPartition, MovedTenant, Partitions
from index.model.query import Query
from index.model.scope import everything
from index.postgres.database import Database
from index.search.hits import Hit
from index.search.searcher import Searcher
from index.search.tables.strategy import StrategyLimits
from ingest.write.writer import Writer
from tests.index.support import many_chunks
from tests.index.support.samples import a_document, put

NUMBER = 40  # documents of acme
OUTGROWN = StrategyLimits(crossover_chunks=NUMBER * many_chunks.CHUNKS)
QUERY = Query(many_chunks.QUESTION, alpha=0.5, top_k=20)
ANA = everything("acme", "ana", [], receives_public=True)
BEA = everything("beta", "bea", [], receives_public=True)


class ChunkPartitions:
    """The tables themselves."""

    def __init__(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        self._connection = connection

    async def chunks(self, tenant: str) -> list[tuple[Any, ...]]:
        """Everything of the tenant's chunks but where they stand, by identifier."""
        rows = await self._connection.fetch(
            "SELECT chunk_id, document_key, dense::text, lexical::text FROM chunks"
            " WHERE tenant = $1 ORDER BY chunk_id",
            tenant,
        )
        return [tuple(row) for row in rows]

    async def holding(self, tenant: str) -> list[int]:
        """The partitions that the tenant's chunks stand on."""
        rows = await self._connection.fetch(
            "SELECT DISTINCT partition_no FROM chunks WHERE tenant = $1 ORDER BY 1", tenant
        )
        return [row["partition_no"] for row in rows]

    async def of(self, tenant: str) -> int:
        return int(
            await self._connection.fetchval(
                "SELECT partition_no FROM tenants WHERE tenant = $1", tenant
            )
        )

    async def width(self, partition_no: int) -> int | None:
        width: int | None = await self._connection.fetchval(
            "SELECT dimensions FROM chunk_partitions WHERE partition_no = $1", partition_no
        )
        return width

    async def indexes(self, partition_no: int) -> dict[str, bool]:
        """The partition's own indexes, and whether they are whole."""
        rows = await self._connection.fetch(
            "SELECT indexrelid::regclass::text AS name, indisvalid FROM pg_index"
            " WHERE indrelid = to_regclass($1) AND indexrelid::regclass::text = ANY ($2)",
            f"chunks_{partition_no}",
            [f"chunks_{partition_no}_graph", f"chunks_{partition_no}_terms"],
        )
        return {row["name"]: row["indisvalid"] for row in rows}

    async def assert_whole(self, partition_no: int) -> None:
        assert await self.indexes(partition_no) == {
            f"chunks_{partition_no}_graph": True,
            f"chunks_{partition_no}_terms": True,
        }
        assert await self.width(partition_no) == many_chunks.EMBEDDER.dimensions


async def tend(
    database: Database, limits: StrategyLimits = OUTGROWN
) -> list[MovedTenant | IndexedPartition]:
    return [done async for done in Partitions(database, limits=limits).maintain()]


def searcher(database: Database, limits: StrategyLimits = many_chunks.EXACT) -> Searcher:
    return Searcher(database, many_chunks.EMBEDDER, limits=limits)


def ids(hits: Sequence[Hit]) -> list[int]:
    return [hit.chunk_id for hit in hits]


async def add(writer: Writer) -> None:
    await put(writer, a_document("new", "A new lighthouse."))


async def edit(writer: Writer) -> None:
    await put(writer, a_document("acme0", "Another lighthouse."))


async def retitle(writer: Writer) -> None:
    """Keeps the chunks, whose words change with the title."""
    await put(writer, a_document("kept", "A kept lighthouse.", title="Telescope"))


async def remove(writer: Writer) -> None:
    await writer.remove("acme", "acme1", lambda stored: stored)


CHANGES = [add, edit, retitle, remove]


async def assert_consistent(
    partitions: ChunkPartitions, documents: DocumentStore, tenant: str
) -> None:
    """Each chunk that a document says to have stands in the tenant's partition, once."""
    listed = await documents.of_source(tenant, "handbook")
    stored = [await documents.stored(tenant, document_id) for document_id in listed]
    told = sorted(chunk_id for one in stored if one for chunk_id in one.chunk_ids)
    assert [chunk[0] for chunk in await partitions.chunks(tenant)] == told
    assert await partitions.holding(tenant) == [await partitions.of(tenant)]
