"""The statements of the previous release on the newest schema: they parse, and their rows fit."""

import re

import asyncpg
import pytest

from index.postgres import migrate
from index.postgres.functions.function_roles import Connection
from tests.upgrade import record_statements

pytestmark = pytest.mark.anyio

RELEASE = record_statements.load()

# Columns that a row of the previous release, which does not name them, would leave without a value.
_WITHOUT_VALUE = """
SELECT relname::text AS table_name, attname::text AS column_name
FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
  AND attnum > 0 AND NOT attisdropped AND attnotnull AND NOT atthasdef AND attidentity = ''"""


async def test_each_statement_of_the_previous_release_is_understood(
    connection: Connection,
) -> None:
    assert len(RELEASE.statements) > 200
    assert RELEASE.schema <= migrate.shipped()[-1].name
    await connection.execute("CREATE TABLE chunks_1 (LIKE chunks)")

    refused = {}
    for name, statement in RELEASE.statements.items():
        try:
            await connection.prepare(re.sub(r"\{\w+\}", "1", statement))
        except asyncpg.PostgresError as error:
            refused[name] = str(error)

    assert refused == {}


async def test_rows_of_the_previous_release_have_a_value_for_each_new_column(
    connection: Connection,
) -> None:
    rows = await connection.fetch(_WITHOUT_VALUE)

    missing = [
        (row["table_name"], row["column_name"])
        for row in rows
        if row["table_name"] in RELEASE.columns
        and row["column_name"] not in RELEASE.columns[row["table_name"]]
    ]
    assert len(rows) > 50
    assert missing == []
