"""What a release asks of the schema: `python -m tests.upgrade.release` records it, at each release.

A gateway of that release may serve beside the next schema while it is replaced; that its
statements are understood there is shown by `tests/upgrade/test_rolling_upgrade.py`.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import asyncpg

from gateway.extensions.embedded_servers import owned_servers
from index.postgres import statements
from index.postgres.functions.function_roles import Connection
from index.postgres.setup import migrate, shipped_migrations
from tests.conftest import data_dir

FILE = Path(__file__).with_name("release.json")  # absent until the first release

_COLUMNS = """
SELECT relname::text AS table_name, array_agg(attname::text ORDER BY attnum) AS columns
FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
  AND attnum > 0 AND NOT attisdropped
GROUP BY relname ORDER BY relname"""
# Columns that a row which does not name them would leave without a value.
_WITHOUT_DEFAULT = """
SELECT relname::text AS table_name, attname::text AS column_name
FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
  AND attnum > 0 AND NOT attisdropped AND attnotnull AND NOT atthasdef AND attidentity = ''"""


@dataclass(frozen=True, slots=True)
class Release:
    """schema: the newest migration. statements: by name. columns: by table."""

    schema: str
    statements: Mapping[str, str]
    columns: Mapping[str, Sequence[str]]


def recorded() -> Iterator[Release]:
    """The last release, once there is one."""
    if FILE.exists():
        yield Release(**json.loads(FILE.read_text(encoding="utf-8")))


async def of_this_version(connection: Connection) -> Release:
    rows = await connection.fetch(_COLUMNS)
    return Release(
        shipped_migrations.shipped()[-1].name,
        dict(sorted(statements.load().items())),
        {row["table_name"]: list(row["columns"]) for row in rows},
    )


async def problems(connection: Connection, release: Release) -> list[str]:
    """What a gateway of the release would fail at, on the connection's schema."""
    return [
        *[problem async for problem in _refused(connection, release)],
        *[
            f"{row['table_name']}.{row['column_name']} has no default"
            for row in await connection.fetch(_WITHOUT_DEFAULT)
            if row["table_name"] in release.columns
            and row["column_name"] not in release.columns[row["table_name"]]
        ],
    ]


async def _refused(connection: Connection, release: Release) -> AsyncIterator[str]:
    for name, statement in release.statements.items():
        try:
            await connection.prepare(re.sub(r"\{\w+\}", "1", statement))
        except asyncpg.PostgresError as error:
            yield f"{name}: {error}"


async def _record(url: str) -> None:
    await migrate.migrate(url, shipped_migrations.shipped())
    connection = await asyncpg.connect(url)
    try:
        release = await of_this_version(connection)
    finally:
        await connection.close()
    FILE.write_text(json.dumps(asdict(release), indent=1) + "\n", encoding="utf-8")


def main() -> None:
    with data_dir() as folder, owned_servers.own_servers(folder) as servers:
        asyncio.run(_record(servers.database_url))


if __name__ == "__main__":
    main()
