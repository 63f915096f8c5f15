"""pgvector as one writes it at first: a table, an HNSW index, and the filter in WHERE."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any

import asyncpg
import numpy as np
import uvloop
from pgvector.asyncpg import register_vector

from loadtests.bench_index.measures import DEPTH
from loadtests.bench_peers.systems import app
from loadtests.bench_peers.systems.peer import Peer, PeerSetup
from loadtests.bench_peers.world import PeerCaller, PeerWorld

HOW = (
    "`vector(256)`, an HNSW index with its defaults and a btree on the tenant, `WHERE tenant = … "
    "AND readers && … ORDER BY embedding <=> … LIMIT 10` by asyncpg's prepared statements and pool "
    "of eight, behind a Starlette application of one worker"
)
_CONNECTIONS = 8

_CREATE = """
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE rows (
    row bigint PRIMARY KEY, tenant text, readers text[], text text, embedding vector(256)
)"""
_INDEX = """
CREATE INDEX ON rows USING hnsw (embedding vector_cosine_ops);
CREATE INDEX ON rows (tenant);
ANALYZE rows"""
_SEARCH = """
SELECT row, text, 1 - (embedding <=> $3) AS score FROM rows
WHERE tenant = $1 AND readers && $2 ORDER BY embedding <=> $3 LIMIT $4"""
_EDIT = "UPDATE rows SET text = $2, embedding = $3 WHERE row = $1"
_RESTRICT = "UPDATE rows SET readers = $2 WHERE row = $1"


def started(setup: PeerSetup) -> AbstractContextManager[Peer]:
    url = setup.database("naive_pgvector")
    uvloop.run(_fill(url, setup.world))
    return app.serving(setup, "pgvector", HOW, "naive_pgvector", database_url=url)


async def _fill(url: str, world: PeerWorld) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(_CREATE)
    await register_vector(connection)
    records = zip(
        range(len(world.texts)),
        world.tenants,
        world.readers,
        world.texts,
        world.embedded,
        strict=True,
    )
    await connection.copy_records_to_table("rows", records=records)
    await connection.execute(_INDEX)
    await connection.close()


class PgvectorStore:
    def __init__(self, pool: "asyncpg.Pool[asyncpg.Record]") -> None:
        self._pool = pool

    async def search(self, caller: PeerCaller, vector: list[float]) -> bytes:
        rows = await self._pool.fetch(
            _SEARCH, caller.tenant, caller.tokens, np.array(vector, np.float32), DEPTH
        )
        return app.answer([tuple(row) for row in rows])

    async def edit(self, row: int, text: str, vector: list[float]) -> None:
        await self._pool.execute(_EDIT, row, text, np.array(vector, np.float32))

    async def restrict(self, row: int, readers: Sequence[str]) -> None:
        await self._pool.execute(_RESTRICT, row, readers)


@asynccontextmanager
async def opened(settings: Mapping[str, Any]) -> AsyncIterator[PgvectorStore]:
    async with asyncpg.create_pool(
        settings["database_url"],
        min_size=_CONNECTIONS,
        max_size=_CONNECTIONS,
        init=register_vector,
    ) as pool:
        yield PgvectorStore(pool)
