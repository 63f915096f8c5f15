"""Versions of pgvector with a known hole are refused, or build indexes without parallel workers."""

import re
from typing import TypeAlias

import asyncpg
import pytest

from gateway.cli import operations
from gateway.settings.settings import Settings
from index.documents.document_store import DocumentStore
from index.documents.partitions import IndexedPartition
from index.errors import PrerequisitesMissing
from index.postgres.setup import migrate, pgvector_version, shipped_migrations
from index.postgres.setup.pgvector_version import PgvectorVersions
from tests.gateway.support.commands import environment_of, process_output
from tests.index.support.partitions import ChunkPartitions, tend

pytestmark = pytest.mark.anyio

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"

_INDEX_BUILDS_ARE_RECORDED = """
CREATE TABLE index_builds (command text, parallel_workers text);
CREATE FUNCTION record_index_build() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO index_builds
    SELECT object_identity, current_setting('max_parallel_maintenance_workers')
    FROM pg_event_trigger_ddl_commands() WHERE object_type = 'index';
END $$;
CREATE EVENT TRIGGER index_builds ON ddl_command_end WHEN TAG IN ('CREATE INDEX')
EXECUTE FUNCTION record_index_build()"""


def told(versions: PgvectorVersions, *, allow_old: bool) -> str:
    return "".join(each.text for each in pgvector_version.problems(versions, allow_old=allow_old))


@pytest.mark.parametrize(
    ("version", "other", "is_older"),
    [
        ("0.8.1", "0.8.4", True),
        ("0.8", "0.8.4", True),
        ("0.8.4", "0.8.4", False),
        ("0.8.10", "0.8.4", False),
        ("0.10.0", "0.8.4", False),
        ("1.0", "0.8.4", False),
    ],
)
def test_versions_are_compared_by_number(version: str, other: str, *, is_older: bool) -> None:
    assert pgvector_version.is_older(version, other) is is_older


@pytest.mark.parametrize("version", ["0.8.4", "0.8.6", "0.9.0"])
def test_a_safe_version_passes(version: str) -> None:
    assert told(PgvectorVersions(version, version), allow_old=False) == ""


@pytest.mark.parametrize("version", ["0.8.0", "0.8.1", "0.8.3"])
def test_an_unsafe_version_is_refused_unless_the_operator_allows_it(version: str) -> None:
    versions = PgvectorVersions(version, version)

    text = told(versions, allow_old=False)
    assert re.search(f"{version}.*CVE.*NEARHIT_ALLOW_OLD_PGVECTOR=true", text)
    assert told(versions, allow_old=True) == ""


def test_a_version_without_iterative_scans_is_refused_even_if_old_ones_are_allowed() -> None:
    text = told(PgvectorVersions("0.7.4", "0.7.4"), allow_old=True)
    assert text.endswith("install 0.8.4 or later on its server, then update the extension")


def test_a_database_without_the_extension_is_judged_by_what_its_server_would_install() -> None:
    assert told(PgvectorVersions(None, "0.8.6"), allow_old=False) == ""
    assert "has pgvector 0.8.1" in told(PgvectorVersions(None, "0.8.1"), allow_old=False)
    assert "has no extension `vector`" in told(PgvectorVersions(None, None), allow_old=False)


async def test_the_tests_server_has_a_safe_version(connection: Connection) -> None:
    versions = await pgvector_version.read(connection)

    assert versions.installed is not None
    assert not pgvector_version.is_older(versions.installed, pgvector_version.SAFE)


async def test_a_database_with_an_old_extension_is_not_migrated(database_url: str) -> None:
    await _install_as(database_url, "0.8.1")

    with pytest.raises(PrerequisitesMissing) as refused:
        await migrate.migrate(database_url, shipped_migrations.shipped())
    assert str(refused.value).endswith("in this database:\n  ALTER EXTENSION vector UPDATE;")
    await migrate.migrate(database_url, shipped_migrations.shipped(), allow_old_pgvector=True)


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("command", [("serve", "--port", "0"), ("worker",), ("status",)])
async def test_a_command_on_an_old_extension_says_what_updates_it(
    settings: Settings, database_url: str, command: tuple[str, ...]
) -> None:
    await _install_as(database_url, "0.8.1")

    status, _out, message = await process_output(environment_of(settings), *command)

    assert status == 1
    assert "  - the database has pgvector 0.8.1" in message
    assert message.endswith("  ALTER EXTENSION vector UPDATE;\n")
    assert "Traceback" not in message


@pytest.mark.sampled("False-2")
@pytest.mark.slow
@pytest.mark.parametrize(("allow_old", "workers"), [(False, "2"), (True, "0")])
async def test_indexes_are_built_without_parallel_workers_where_old_versions_are_allowed(
    settings: Settings,
    connection: Connection,
    town: DocumentStore,
    partitions: ChunkPartitions,
    *,
    allow_old: bool,
    workers: str,
) -> None:
    assert town
    await connection.execute(_INDEX_BUILDS_ARE_RECORDED)

    own = settings.model_copy(update={"allow_old_pgvector": allow_old})
    async with operations.retry_while_busy(own) as database:
        done = await tend(database)

    assert any(isinstance(step, IndexedPartition) for step in done)
    await partitions.assert_whole(1)
    builds = await connection.fetch("SELECT command, parallel_workers FROM index_builds")
    assert {row["parallel_workers"] for row in builds if "_graph" in row["command"]} == {workers}


async def _install_as(database_url: str, version: str) -> None:
    """Record another version of the extension, as an older installation has it."""
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute(
            "UPDATE pg_extension SET extversion = $1 WHERE extname = 'vector'", version
        )
    finally:
        await connection.close()
