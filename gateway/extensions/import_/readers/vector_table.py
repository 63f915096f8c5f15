"""Reads a table with vectors of pgvector, of any database and schema, page by page.

The server itself writes the statement that reads the table, so that it quotes the table's name.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import asyncpg
import orjson

from gateway.extension import content
from gateway.extensions.import_.errors import NotImportable
from gateway.extensions.import_.readers.record import TOO_MANY_VALUES
from index.postgres.connections import LOST
from index.postgres.functions.function_roles import Connection

# Starting values, not measured.
CONNECT_S_MAX = 30.0
PAGE_S_MAX = 60.0
PAGE_ROWS = 16  # of the longest rows 2**28 bytes, as a page of another store
ROW_BYTES_MAX = 2**24  # as text: packed, a row of 0.2 MB may have as many
_TABLES_LISTED_MAX = 10

# vectors: columns of pgvector's types. hidden: others that hold no values for a person.
_TABLE = """
SELECT
    pg_class.relname AS name,
    format('SELECT count(*) FROM %s', pg_class.oid::regclass) AS counting,
    format(
        'SELECT CASE WHEN pg_column_size(t) > $2 OR octet_length(t::text) > $2 THEN NULL '
        'ELSE to_jsonb(t) - $1::text[] END AS columns FROM %s AS t', pg_class.oid::regclass
    ) AS reading,
    ARRAY(
        SELECT attname::text FROM pg_attribute
        WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum
    ) AS columns,
    ARRAY(
        SELECT attname::text FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
        WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
            AND typname IN ('vector', 'halfvec')
        ORDER BY attnum
    ) AS vectors,
    ARRAY(
        SELECT attname::text FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
        WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
            AND typname IN ('sparsevec', 'bit', 'tsvector')
        ORDER BY attnum
    ) AS hidden,
    ARRAY(
        SELECT attname::text FROM pg_index JOIN pg_attribute ON attrelid = indrelid
        WHERE indrelid = pg_class.oid AND indisprimary AND attnum = ANY (indkey)
        ORDER BY attnum
    ) AS key
FROM pg_class
WHERE pg_class.oid = to_regclass($1) AND relkind IN ('r', 'p', 'v', 'm', 'f')"""
_TABLES = """
SELECT DISTINCT attrelid::regclass::text AS name
FROM pg_attribute
JOIN pg_class ON pg_class.oid = attrelid
JOIN pg_type ON pg_type.oid = atttypid
WHERE typname IN ('vector', 'halfvec') AND relkind IN ('r', 'p', 'v', 'm', 'f')
ORDER BY 1 LIMIT $1"""


@dataclass(frozen=True, slots=True)
class VectorTable:
    """name: without its schema. vectors: the columns that hold vectors. key: the primary key's."""

    name: str
    columns: Sequence[str]
    vectors: Sequence[str]
    key: Sequence[str]


class OpenVectorTable:
    """The table in one snapshot, in which it is counted and read."""

    def __init__(self, connection: Connection, row: asyncpg.Record) -> None:
        self.table = VectorTable(row["name"], row["columns"], row["vectors"], row["key"])
        self._connection = connection
        self._counting: str = row["counting"]
        self._reading: str = row["reading"]
        self._hidden: Sequence[str] = row["hidden"]

    async def count(self) -> int:
        with _errors():
            number: int = await self._connection.fetchval(self._counting)
        return number

    async def pages(self, vector: str | None) -> AsyncIterator[list[dict[str, Any] | str]]:
        """The rows by column, as JSON has them; why not, for a row beyond a limit.

        A vector is its text, `[1,0.5]`.

        vector: the column of the only vector that they hold; None for none.
        """
        hidden = [*self._hidden, *(name for name in self.table.vectors if name != vector)]
        with _errors():
            cursor = await self._connection.cursor(self._reading, hidden, ROW_BYTES_MAX)
            while rows := await cursor.fetch(PAGE_ROWS):
                yield [_decoded(row["columns"]) for row in rows]


def _decoded(columns: str | None) -> Any:
    if columns is None:
        return f"the row has over {ROW_BYTES_MAX:,} bytes"
    encoded = columns.encode()
    return orjson.loads(encoded) if content.has_few_values(encoded) else TOO_MANY_VALUES


@asynccontextmanager
async def open_table(url: str, table: str, password: str | None) -> AsyncIterator[OpenVectorTable]:
    """table: NAME or SCHEMA.NAME, as SQL reads it.

    Raises `NotImportable`, as the methods of the table do.
    """
    with _errors(password):
        connection = await asyncpg.connect(
            url,
            password=password,
            timeout=CONNECT_S_MAX,
            command_timeout=PAGE_S_MAX,
            statement_cache_size=0,  # a pooler may be in between
            server_settings={"application_name": "nearhit import"},
        )
    try:
        with _errors():
            await connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            row = await connection.fetchrow(_TABLE, table)
            if row is None:
                raise NotImportable(await _missing(connection, table))
        yield OpenVectorTable(connection, row)
    finally:
        connection.terminate()  # there is nothing to commit


async def _missing(connection: Connection, table: str) -> str:
    names = [row["name"] for row in await connection.fetch(_TABLES, _TABLES_LISTED_MAX)]
    others = f"those with vectors are {', '.join(names)}" if names else "none there has vectors"
    return f"PostgreSQL has no table {table}; {others}"


@contextmanager
def _errors(password: str | None = None) -> Iterator[None]:
    """password: which the server may send back, and no error shows."""
    try:
        yield
    except TimeoutError:
        raise NotImportable("PostgreSQL does not answer in time") from None
    except (*LOST, ValueError) as error:
        text = str(error).replace(password, "***") if password else str(error)
        raise NotImportable(f"PostgreSQL: {' '.join(text.split())}") from None
