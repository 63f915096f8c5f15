"""Migrations that a next version might bring, and that a rolling upgrade permits.

Each locks one table: one that locks several may wait for a request that waits for it.
"""

import re
from collections.abc import Iterator

from index.postgres.setup import shipped_migrations
from index.postgres.setup.shipped_migrations import Migration

_TABLE = re.compile(r"^CREATE (?:UNLOGGED )?TABLE (\w+) \(", re.MULTILINE)


def migrations() -> list[Migration]:
    """Those of this version, and those of the next: each table gets columns.

    So no statement may depend on which columns a table has.
    """
    return [
        *shipped_migrations.shipped(),
        Migration("9999_index.sql", "CREATE INDEX ON documents (tenant, updated_at)"),
        Migration("9999_new.sql", "CREATE TABLE reviews (tenant text REFERENCES tenants)"),
        *(
            Migration(
                f"9999_{table}.sql",
                f"ALTER TABLE {table} ADD reviewed_at timestamptz,"
                " ADD reviews bigint NOT NULL DEFAULT 0",
            )
            for table in _tables()
        ),
    ]


def _tables() -> Iterator[str]:
    for migration in shipped_migrations.shipped():
        yield from _TABLE.findall(migration.text)
