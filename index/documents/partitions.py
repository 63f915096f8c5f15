"""Where chunks stand: tenants that outgrow the shared shelf get one of their own, with indexes.

Searches never wait and never see a chunk twice or not at all: a tenant changes its shelf in one
transaction, and a shelf is looked through exactly until its indexes are whole. Its writers wait
while its chunks are copied. Whatever ends early is taken up by the next call.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from index.documents import outbox
from index.postgres.database import Database, Session
from index.search import strategy
from index.search.strategy import StrategyLimits


@dataclass(frozen=True, slots=True)
class MovedTenant:
    tenant: str
    shelf: int
    chunks: int


@dataclass(frozen=True, slots=True)
class IndexedPartition:
    shelf: int
    whose: str


class Partitions:
    """Its database must grant statements the time to build an index: `connect`'s time-out."""

    def __init__(self, database: Database, *, limits: StrategyLimits = strategy.MEASURED) -> None:
        self._database = database
        self._chunks_max = limits.crossover_chunks

    async def maintain(self) -> AsyncGenerator[MovedTenant | IndexedPartition, None]:
        """Do what has to be done, and tell each thing done; nothing if another process is at it.

        Raises `DatabaseUnavailable`.
        """
        async with self._database.session() as session:
            if not await session.value("shelves.claim"):
                return
            try:
                for row in await session.rows("shelves.outgrown", self._chunks_max):
                    yield await _move(session, row["tenant"], row["chunks"])
                for row in await session.rows("shelves.unindexed", self._chunks_max):
                    if await _index(session, row["shelf"]):
                        yield IndexedPartition(row["shelf"], row["whose"])
            finally:
                await session.rows("shelves.release")


async def _move(session: Session, tenant: str, chunks: int) -> MovedTenant:
    (row,) = await session.rows("shelves.number", tenant)
    shelf = row["shelf"]
    if not row["is_built"]:
        async with session.connection.transaction():
            await session.rows("shelves.build", shelf=shelf)
            await session.rows("shelves.attach", shelf=shelf)
    async with session.connection.transaction():
        await session.rows("shelves.close", tenant)
        await session.rows("shelves.copy", tenant, shelf=shelf)
        await session.rows("shelves.clear", tenant)
        await session.rows("shelves.enter", shelf, tenant)
        await _advance(session, tenant)  # passes that saw a chunk in two places must not agree
    return MovedTenant(tenant, shelf, chunks)


async def _index(session: Session, shelf: int) -> bool:
    """False if there is nothing to index. What an earlier attempt left half done is dropped."""
    width = await session.value("shelves.any_width", shelf)
    if width is None:
        return False
    for statement in ("drop_graph", "drop_terms"):
        await session.rows(f"shelves.{statement}", shelf=shelf)
    await session.rows("shelves.index_terms", shelf=shelf)
    await session.rows("shelves.index_graph", shelf=shelf, width=width)
    async with session.connection.transaction():
        opened = await session.row("shelves.open_index", shelf, width)
        if opened is not None:
            for partition in await _partitions(session, opened["whose"]):
                await session.rows("shelves.unsettle", partition)
    return opened is not None


async def _advance(session: Session, tenant: str) -> None:
    if partitions := await _partitions(session, tenant):
        await outbox.touch(session, dict.fromkeys(partitions, ()))


async def _partitions(session: Session, tenant: str) -> list[str]:
    """Whose answers may hang on the tenant's chunks."""
    return [row["partition"] for row in await session.rows("shelves.partitions", tenant)]
