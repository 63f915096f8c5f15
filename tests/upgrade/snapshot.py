"""The data of a database as SQL that a new database with the same schema loads.

The schema is that of the last applied migration, which the first line names. Tables of chunk
partitions, which no migration creates, are part of the SQL with their indexes.
"""

from pathlib import Path

import asyncpg

from index.postgres.setup import migrate, shipped_migrations
from index.postgres.setup.shipped_migrations import Migration

FILE = Path(__file__).with_name("snapshot.sql")
_HEADING = "-- schema: "

_TABLES = """
SELECT relname::text AS name FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
  AND relname <> 'migrations'
ORDER BY relname"""
_COLUMNS = """
SELECT attname::text AS name FROM pg_attribute
WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
ORDER BY attnum"""
_SEQUENCES = """
SELECT format('SELECT setval(%L, %s);', schemaname || '.' || sequencename, last_value) AS statement
FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL ORDER BY sequencename"""
_PARTITIONS = """
SELECT inhrelid::regclass::text AS name, pg_get_expr(relpartbound, inhrelid) AS bound,
    ARRAY(
        SELECT pg_get_indexdef(indexrelid) FROM pg_index
        WHERE indrelid = partitions.inhrelid
          AND NOT EXISTS (SELECT FROM pg_inherits AS parents WHERE parents.inhrelid = indexrelid)
        ORDER BY 1
    ) AS indexes
FROM pg_inherits AS partitions JOIN pg_class ON pg_class.oid = inhrelid
WHERE inhparent = 'chunks'::regclass AND inhrelid::regclass::text <> 'chunks_0' ORDER BY 1"""


async def dump(connection: "asyncpg.Connection[asyncpg.Record]") -> str:
    """The SQL of all rows; a superuser has to run it, because it disables triggers."""
    schema = await connection.fetchval("SELECT max(name) FROM migrations")
    lines = [
        f"{_HEADING}{schema}",
        "-- Written by `python -m tests.upgrade.record`.",
        "SET session_replication_role = replica;",
    ]
    for partition in await connection.fetch(_PARTITIONS):
        name = partition["name"]
        lines.append(f"CREATE TABLE {name} PARTITION OF chunks {partition['bound']};")
        lines += [f"{index};" for index in partition["indexes"]]
    for table in await connection.fetch(_TABLES):
        lines += await _inserts(connection, table["name"])
    lines += [row["statement"] for row in await connection.fetch(_SEQUENCES)]
    return "\n".join([*lines, "RESET session_replication_role;", ""])


async def load(url: str) -> None:
    """Bring an empty database to the snapshot's schema, and insert its rows."""
    text = FILE.read_text(encoding="utf-8")
    schema = text.partition("\n")[0].removeprefix(_HEADING)
    await migrate.migrate(url, _up_to(schema))
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(text)
    finally:
        await connection.close()


def _up_to(name: str) -> list[Migration]:
    return [migration for migration in shipped_migrations.shipped() if migration.name <= name]


async def _inserts(connection: "asyncpg.Connection[asyncpg.Record]", table: str) -> list[str]:
    """A DELETE of the rows that migrations insert, and an INSERT of all rows."""
    names = [row["name"] for row in await connection.fetch(_COLUMNS, table)]
    values = ", ', ', ".join(f"quote_nullable({name}::text)" for name in names)
    rows = await connection.fetch(f"SELECT concat({values}) AS row FROM {table} ORDER BY 1")  # noqa: S608
    if not rows:
        return [f"DELETE FROM {table};"]  # noqa: S608
    columns = ", ".join(names)
    heading = f"INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE VALUES"
    return [
        f"DELETE FROM {table};",  # noqa: S608
        heading,
        ",\n".join(f"({row['row']})" for row in rows) + ";",
    ]
