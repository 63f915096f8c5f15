"""Chunk partitions: a tenant that outgrows the shared one gets its own, with indexes.

Searches never wait, and see each chunk exactly once: a tenant changes its partition in one
transaction, and a partition is searched exactly until its indexes are complete. The tenant's
writers wait while its chunks are copied. The next call completes what an interrupted call has left.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from index.documents import outbox
from index.postgres.database import Database
from index.postgres.session import Session
from index.search.tables import strategy
from index.search.tables.strategy import StrategyLimits


@dataclass(frozen=True, slots=True)
class MovedTenant:
    tenant: str
    partition_no: int
    chunks: int


@dataclass(frozen=True, slots=True)
class IndexedPartition:
    partition_no: int
    whose: str


class Partitions:
    """Moves and indexes partitions; the database's statement timeout must allow index builds."""

    def __init__(self, database: Database, *, limits: StrategyLimits = strategy.MEASURED) -> None:
        self._database = database
        self._chunks_max = limits.crossover_chunks

    async def maintain(self) -> AsyncGenerator[MovedTenant | IndexedPartition, None]:
        """Move and index what is due, and yield each step; nothing while another process does so.

        Raises `DatabaseUnavailable`.
        """
        async with self._database.session() as session:
            if not await session.value("partitions.lock"):
                return
            try:
                for row in await session.rows("partitions.outgrown", self._chunks_max):
                    yield await _move(session, row["tenant"], row["chunks"])
                for row in await session.rows("partitions.unindexed", self._chunks_max):
                    if await _index(session, row["partition_no"]):
                        yield IndexedPartition(row["partition_no"], row["owner"])
            finally:
                await session.rows("partitions.unlock")


async def _move(session: Session, tenant: str, chunks: int) -> MovedTenant:
    (row,) = await session.rows("partitions.allocate", tenant)
    partition_no = row["partition_no"]
    if not row["is_built"]:
        async with session.connection.transaction():
            await session.rows("partitions.create_table", partition_no=partition_no)
            await session.rows("partitions.attach", partition_no=partition_no)
    async with session.connection.transaction():
        await session.rows("partitions.lock_tenant", tenant)
        await session.rows("partitions.copy_chunks", tenant, partition_no=partition_no)
        await session.rows("partitions.delete_copied_chunks", tenant)
        await session.rows("partitions.assign_tenant", partition_no, tenant)
        await _advance(session, tenant)  # so that passes over both partitions disagree
    return MovedTenant(tenant, partition_no, chunks)


async def _index(session: Session, partition_no: int) -> bool:
    """Build the indexes of a partition; False if it is empty. Drops unfinished indexes first."""
    width = await session.value("partitions.dimensions", partition_no)
    if width is None:
        return False
    for statement in ("drop_graph", "drop_terms"):
        await session.rows(f"partitions.{statement}", partition_no=partition_no)
    await session.rows("partitions.create_terms", partition_no=partition_no)
    await session.rows("partitions.create_graph", partition_no=partition_no, dimensions=width)
    async with session.connection.transaction():
        row = await session.row("partitions.publish_index", partition_no, width)
        if row is not None:
            for partition in await _partitions(session, row["owner"]):
                await session.rows("partitions.skip_revision", partition)
    return row is not None


async def _advance(session: Session, tenant: str) -> None:
    if partitions := await _partitions(session, tenant):
        await outbox.mark_updated(session, dict.fromkeys(partitions, ()))


async def _partitions(session: Session, tenant: str) -> list[str]:
    """The partitions whose answers may depend on the tenant's chunks."""
    return [row["partition"] for row in await session.rows("partitions.affected", tenant)]
