"""Records `statements.json`: `python -m tests.upgrade.record_statements`, at each release.

It holds the SQL of the release and the columns that its statements know. A gateway of that release
may serve beside the next schema while it is replaced; that its statements are understood there is
shown by `tests/index/postgres/test_previous_release.py`.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import asyncpg

from gateway.embedded import embedded_servers
from index.postgres import migrate, statements
from tests.conftest import data_dir

FILE = Path(__file__).with_name("statements.json")

_COLUMNS = """
SELECT relname::text AS table_name, array_agg(attname::text ORDER BY attnum) AS columns
FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
  AND attnum > 0 AND NOT attisdropped
GROUP BY relname ORDER BY relname"""


@dataclass(frozen=True, slots=True)
class RecordedRelease:
    """schema: the newest migration. statements: by name. columns: by table."""

    schema: str
    statements: Mapping[str, str]
    columns: Mapping[str, Sequence[str]]


def load() -> RecordedRelease:
    return RecordedRelease(**json.loads(FILE.read_text(encoding="utf-8")))


async def columns_of(connection: "asyncpg.Connection[asyncpg.Record]") -> dict[str, list[str]]:
    rows = await connection.fetch(_COLUMNS)
    return {row["table_name"]: list(row["columns"]) for row in rows}


async def _record(url: str) -> None:
    migrations = migrate.shipped()
    await migrate.migrate(url, migrations)
    connection = await asyncpg.connect(url)
    try:
        columns = await columns_of(connection)
    finally:
        await connection.close()
    release = RecordedRelease(migrations[-1].name, dict(sorted(statements.load().items())), columns)
    FILE.write_text(json.dumps(asdict(release), indent=1) + "\n", encoding="utf-8")


def main() -> None:
    with data_dir() as folder, embedded_servers.own_servers(folder) as servers:
        asyncio.run(_record(servers.database_url))


if __name__ == "__main__":
    main()
