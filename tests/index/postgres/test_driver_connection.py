"""What the connections of a pool know of the server's types."""

import asyncio

import asyncpg
import pytest
from pgvector import HalfVector, Vector

from index.errors import UnstorableText
from index.postgres.connections import pool
from index.postgres.database import Database
from index.postgres.driver_connection import ServerTypes
from index.postgres.functions.function_roles import Connection

pytestmark = pytest.mark.anyio

_ARRAYS = "SELECT ARRAY['[1]'::public.halfvec], ARRAY[1::bigint], ARRAY['a'::bytea]"


async def test_types_that_were_created_anew_are_noticed_by_the_next_connection(
    database_url: str, connection: Connection
) -> None:
    types = ServerTypes()
    async with pool(database_url, 1, 10, types=types) as opened:
        assert await opened.fetchval("SELECT '[1]'::public.vector") == Vector([1])

    await connection.execute("DROP EXTENSION vector CASCADE; CREATE EXTENSION vector")

    async with pool(database_url, 1, 10, types=types) as opened:
        assert await opened.fetchval("SELECT '[1]'::public.vector") == Vector([1])


async def test_connections_that_are_opened_at_once_read_the_types_once(database_url: str) -> None:
    connections = [await asyncpg.connect(database_url) for _ in range(2)]
    queries: list[str] = []
    for connection in connections:
        connection.add_query_logger(lambda record: queries.append(record.query))
    types = ServerTypes()

    await asyncio.gather(*(types.load(connection) for connection in connections))

    for connection in connections:
        await connection.close()
    assert types.by_name("halfvec") is not None
    assert len(queries) == 1


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("tenants.exists", ("a\0",)),
        ("audit_log.append", ("acme", None, "system", "x", "x", {"name": "a\0"})),
    ],
)
async def test_a_text_that_no_row_can_hold_is_told_from_a_server_that_is_down(
    database: Database, name: str, arguments: tuple[object, ...]
) -> None:
    with pytest.raises(UnstorableText):
        await database.rows(name, *arguments)


async def test_a_second_connection_reads_and_writes_the_same_values(database_url: str) -> None:
    async with (
        pool(database_url, 2, 10) as opened,
        opened.acquire() as first,
        opened.acquire() as second,
    ):
        for each in (first, second):
            (row,) = await each.fetch(_ARRAYS)
            assert tuple(row) == ([HalfVector([1])], [1], [b"a"])
            given = await each.fetchval("SELECT $1::public.halfvec[]", [HalfVector([2])])
            assert given == [HalfVector([2])]
