"""Tables with vectors in a real PostgreSQL."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import asyncpg
import pytest

from gateway.extensions._sources.source import RefusedItem
from gateway.extensions.import_.errors import NotImportable
from gateway.extensions.import_.readers.pgvector import PgvectorReader
from gateway.extensions.import_.readers.record import Record
from gateway.extensions.import_.readers.vector_table import ROW_BYTES_MAX
from tests.conftest import run_sql

pytestmark = [pytest.mark.anyio, pytest.mark.blocking]

TABLE = """
CREATE SCHEMA other;
CREATE TABLE other."Odd ""Docs""; DROP TABLE x" (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    document text,
    cmetadata jsonb,
    at timestamptz,
    price numeric,
    embedding vector(2),
    half halfvec(2),
    words tsvector
);
INSERT INTO other."Odd ""Docs""; DROP TABLE x" (id, document, cmetadata, at, price, embedding, half)
SELECT ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid,
    'Text ' || n, jsonb_build_object('n', n), '2026-01-02 03:04:05+00', 1.5,
    CASE WHEN n <> 2 THEN ('[' || n || ',0.25]')::vector END, '[1,2]'
FROM generate_series(1, 150) AS n;
CREATE TABLE keyless (body text, at integer);
CREATE VIEW other.recent AS SELECT document, embedding FROM other."Odd ""Docs""; DROP TABLE x";
"""
ODD = 'other."Odd ""Docs""; DROP TABLE x"'


@pytest.fixture
async def url(database_url: str) -> str:
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute(TABLE)
    finally:
        await connection.close()
    return database_url


def read(
    url: str, table: str, *, with_vectors: bool = False, vector: str | None = None
) -> tuple[int, Sequence[Record | RefusedItem], object]:
    """In a thread, as a command has no loop when it opens a table."""
    reader = PgvectorReader(url, table, password=None, with_vectors=with_vectors, vector=vector)
    try:
        return reader.count(), [*reader.records()], reader.columns
    finally:
        reader.close()


async def test_every_row_is_read_with_its_values_and_its_vector(url: str) -> None:
    number, records, columns = await asyncio.to_thread(
        read, url, ODD, with_vectors=True, vector="embedding"
    )

    assert number == len(records) == 150
    assert columns == {"id": "id"}
    assert records[2] == Record(
        None,
        {
            "id": "00000000-0000-0000-0000-000000000003",
            "document": "Text 3",
            "cmetadata": {"n": 3},
            "at": "2026-01-02T03:04:05+00:00",
            "price": 1.5,
        },
        vector=[3, 0.25],
    )
    assert isinstance(records[1], Record)
    assert records[1].vector is None


async def test_without_vectors_no_column_of_vectors_is_read(url: str) -> None:
    _, records, _ = await asyncio.to_thread(read, url, ODD)

    names = {"id", "document", "cmetadata", "at", "price"}
    for record in records:
        assert isinstance(record, Record)
        assert record.vector is None
        assert record.values.keys() == names


async def test_a_view_is_read_with_its_only_column_of_vectors(url: str) -> None:
    number, records, columns = await asyncio.to_thread(read, url, "other.recent", with_vectors=True)

    assert (number, columns) == (150, {})
    assert records[0] == Record(None, {"document": "Text 1"}, vector=[1, 0.25])


@pytest.mark.thorough
async def test_a_row_that_is_too_large_is_refused_alone(url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(
            "INSERT INTO keyless SELECT string_agg(md5(n::text), ''), 1 "
            "FROM generate_series(1, 600000) AS n; INSERT INTO keyless VALUES ('Short.', 2)"
        )
    finally:
        await connection.close()

    _, records, _ = await asyncio.to_thread(read, url, "keyless")

    assert records == [
        RefusedItem("record 1", f"the row has over {ROW_BYTES_MAX:,} bytes"),
        Record(None, {"body": "Short.", "at": 2}),
    ]


@pytest.mark.parametrize(
    ("table", "vector", "reason"),
    [
        ("nothing", None, "has no table nothing; those with vectors are .*other.recent"),
        ("pg_class'; DROP TABLE keyless; --", None, "has no table|PostgreSQL: "),
        ("keyless", None, "the table keyless has no column with vectors"),
        (ODD, None, "choose a column of vectors by --vector: embedding, half"),
        (ODD, "words", "choose a column of vectors by --vector: embedding, half"),
    ],
)
async def test_what_can_not_be_read_is_told(
    url: str, table: str, vector: str | None, reason: str
) -> None:
    with pytest.raises(NotImportable, match=reason):
        await asyncio.to_thread(read, url, table, with_vectors=True, vector=vector)


async def test_a_wrong_password_is_told_and_not_repeated(url: str) -> None:
    with pytest.raises(NotImportable) as refused:
        await asyncio.to_thread(PgvectorReader, url, ODD, password="a-secret", with_vectors=False)

    assert "password authentication failed" in str(refused.value)
    assert "a-secret" not in str(refused.value)


async def test_an_absent_server_is_told(tmp_path: Path) -> None:
    url = f"postgresql://nearhit@/nearhit?host={tmp_path}"

    with pytest.raises(NotImportable, match=r"PostgreSQL: .*No such file"):
        await asyncio.to_thread(PgvectorReader, url, ODD, password=None, with_vectors=False)


async def test_a_row_that_is_long_once_it_is_unpacked_is_refused(
    url: str, database_url: str
) -> None:
    await run_sql(database_url, "CREATE TABLE packed (id int PRIMARY KEY, body text, notes jsonb)")
    connection = await asyncpg.connect(database_url)
    try:
        await connection.executemany(
            "INSERT INTO packed VALUES ($1, repeat('x', $2), to_jsonb(repeat('x', $3)))",
            [(1, ROW_BYTES_MAX, 1), (2, ROW_BYTES_MAX, 1), (3, 1, ROW_BYTES_MAX), (4, 1, 1)],
        )
    finally:
        await connection.close()

    _, records, _ = await asyncio.to_thread(read, url, "packed")

    assert [isinstance(record, RefusedItem) for record in records] == [True, True, True, False]
