"""Bringing an empty database, or one of another version, to the schema of this one."""

import asyncio
import re
from collections.abc import AsyncIterator
from itertools import pairwise
from urllib.parse import urlsplit

import asyncpg
import pytest

from gateway.extensions.embedded_servers.owned_servers import Servers
from index.errors import DatabaseUnavailable, MigrationRefused, PrerequisitesMissing
from index.postgres.setup.migrate import migrate
from index.postgres.setup.shipped_migrations import Migration, shipped
from tests.conftest import named, run_sql

pytestmark = pytest.mark.anyio

FIRST = Migration("0001_counters.sql", "CREATE TABLE counters (n integer);")
SECOND = Migration("0002_one.sql", "INSERT INTO counters VALUES (1); SELECT 'two statements';")
THIRD = Migration("0003_double.sql", "UPDATE counters SET n = n * 2;")


@pytest.fixture
async def connection(empty_url: str) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    connection = await asyncpg.connect(empty_url)
    yield connection
    await connection.close()


async def test_migrations_are_applied_once_in_order(
    empty_url: str, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    first_run = await migrate(empty_url, [FIRST, SECOND, THIRD])
    second_run = await migrate(empty_url, [FIRST, SECOND, THIRD])

    assert first_run == [FIRST.name, SECOND.name, THIRD.name]
    assert second_run == []
    assert await connection.fetchval("SELECT n FROM counters") == 2


@pytest.mark.thorough
async def test_a_later_version_applies_only_what_is_new(empty_url: str) -> None:
    await migrate(empty_url, [FIRST, SECOND])

    assert await migrate(empty_url, [FIRST, SECOND, THIRD]) == [THIRD.name]


async def test_a_changed_migration_is_refused_by_name_and_nothing_is_applied(
    empty_url: str, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    await migrate(empty_url, [FIRST, SECOND])
    changed = Migration(SECOND.name, SECOND.text + " -- mended")

    with pytest.raises(MigrationRefused, match=SECOND.name):
        await migrate(empty_url, [FIRST, changed, THIRD])

    assert await connection.fetchval("SELECT n FROM counters") == 1


async def test_an_applied_migration_that_this_version_lacks_is_refused_by_name(
    empty_url: str, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    await migrate(empty_url, [FIRST, SECOND])

    with pytest.raises(MigrationRefused, match=f"{SECOND.name}.*ingest into a new database"):
        await migrate(empty_url, [FIRST, THIRD])

    assert await connection.fetchval("SELECT n FROM counters") == 1


@pytest.mark.thorough
async def test_ten_processes_that_start_at_once_apply_each_migration_once(
    empty_url: str, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    runs = await asyncio.gather(*(migrate(empty_url, [FIRST, SECOND, THIRD]) for _ in range(10)))

    assert sorted(runs, key=len)[-2:] == [[], [FIRST.name, SECOND.name, THIRD.name]]
    assert [row["n"] for row in await connection.fetch("SELECT n FROM counters")] == [2]


@pytest.mark.thorough
async def test_ten_processes_that_start_at_once_bring_the_real_schema(empty_url: str) -> None:
    runs = await asyncio.gather(*(migrate(empty_url, shipped()) for _ in range(10)))

    assert [name for run in runs for name in run] == [migration.name for migration in shipped()]


@pytest.mark.thorough
async def test_a_failing_migration_leaves_nothing_half_done(
    empty_url: str, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    failing = Migration(SECOND.name, "INSERT INTO counters VALUES (1); SELECT 1 / 0;")

    with pytest.raises(asyncpg.DivisionByZeroError):
        await migrate(empty_url, [FIRST, failing, THIRD])

    applied = await connection.fetch("SELECT name FROM migrations")
    assert [row["name"] for row in applied] == [FIRST.name]
    assert await connection.fetchval("SELECT count(*) FROM counters") == 0


async def test_a_migration_that_cannot_be_recorded_leaves_nothing_behind(
    empty_url: str, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    forbidding = Migration(
        FIRST.name, f"{FIRST.text} ALTER TABLE migrations ADD CHECK (name <> '{SECOND.name}')"
    )

    with pytest.raises(asyncpg.CheckViolationError):
        await migrate(empty_url, [forbidding, SECOND])

    assert await connection.fetchval("SELECT count(*) FROM counters") == 0


@pytest.mark.thorough
async def test_a_mended_migration_is_applied_after_it_failed(empty_url: str) -> None:
    failing = Migration(SECOND.name, "SELECT 1 / 0;")
    with pytest.raises(asyncpg.DivisionByZeroError):
        await migrate(empty_url, [FIRST, failing])

    assert await migrate(empty_url, [FIRST, SECOND, THIRD]) == [SECOND.name, THIRD.name]


async def test_names_that_another_program_has_taken_are_told_and_its_tables_stay(
    empty_url: str,
) -> None:
    await run_sql(empty_url, "CREATE TABLE files AS SELECT 1 AS id; CREATE TABLE migrations ()")

    with pytest.raises(
        PrerequisitesMissing, match=r"names of Nearhit's \(files, migrations\)"
    ) as told:
        await migrate(empty_url, shipped())
    await run_sql(empty_url, str(told.value).splitlines()[-1])
    await migrate(empty_url, shipped())

    assert await migrate(empty_url, shipped()) == []
    await run_sql(empty_url, "SELECT id FROM public.files; SELECT digest FROM nearhit.migrations")


async def test_a_database_that_is_not_there_is_unavailable(empty_url: str) -> None:
    with pytest.raises(DatabaseUnavailable, match='"nearhit_nowhere" does not exist'):
        await migrate(named(empty_url, "nearhit_nowhere"), [FIRST])


async def test_a_database_of_another_encoding_is_refused_before_anything_is_applied(
    servers: Servers, empty_url: str
) -> None:
    name = urlsplit(empty_url).path.removeprefix("/")
    await run_sql(servers.database_url, f"DROP DATABASE {name}")
    latin = "ENCODING LATIN1 LOCALE 'C' TEMPLATE template0"
    await run_sql(servers.database_url, f"CREATE DATABASE {name} {latin}")

    with pytest.raises(PrerequisitesMissing, match="is LATIN1, and Nearhit needs UTF8"):
        await migrate(empty_url, shipped())

    connection = await asyncpg.connect(empty_url)
    tables = await connection.fetchval("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
    await connection.close()
    assert tables == 0


def test_the_schema_says_of_each_table_what_it_is_for() -> None:
    lines = [line for migration in shipped() for line in migration.text.splitlines()]
    tables = {
        line: previous
        for previous, line in pairwise(lines)
        if re.match(r"CREATE (UNLOGGED )?TABLE \w+ \(", line)
    }

    assert len(tables) > 50
    assert [table for table, previous in tables.items() if not previous.startswith("-- ")] == []


def test_the_shipped_migrations_are_numbered_without_gaps() -> None:
    numbers = [int(migration.name.split("_")[0]) for migration in shipped()]

    assert numbers == list(range(1, len(numbers) + 1))
