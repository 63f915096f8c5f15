"""Gateways of two versions serve one database while one of them brings a next schema."""

from collections.abc import AsyncIterator, Mapping

import asyncpg
import pytest

from gateway.extensions.embedded_servers.owned_servers import Servers
from index.postgres.functions.function_roles import Connection
from index.postgres.setup import migrate, shipped_migrations
from index.postgres.setup.shipped_migrations import Migration
from tests.conftest import run_sql
from tests.gateway.support.gateways import Caller, Gateway, running
from tests.upgrade import next_version, record, release, sample
from tests.upgrade.sample import ExactEmbedder

pytestmark = pytest.mark.anyio

# The audit log grows by each request.
REQUESTS = [request for request in sample.REQUESTS if "/audit/" not in request.path]


@pytest.fixture
async def connection(database_url: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


async def answers_of(gateway: Gateway, keys: Mapping[str, str]) -> list[str]:
    return [
        await record.answer(Caller(gateway.client, keys[request.caller]), request)
        for request in REQUESTS
    ]


async def test_a_next_schema_changes_no_answer_of_either_version_and_each_finds_the_others_writes(
    servers: Servers, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrations = next_version.migrations()
    before_settings, next_settings = (
        record.settings_for(servers, database_url, f"nearhit-test-{version}:")
        for version in ("before", "next")
    )

    async with running(before_settings, ExactEmbedder()) as before:
        keys = await record.fill(before)
        await before.receive_public("acme", "beta")
        answers = await answers_of(before, keys)
        monkeypatch.setattr(shipped_migrations, "shipped", lambda: migrations)
        async with running(next_settings, ExactEmbedder()) as after:
            # A revision without its change: no cached answer and no shard of before is used.
            await run_sql(database_url, "UPDATE tenants SET revision = revision + 1")
            answers_before = await answers_of(before, keys)
            answers_after = await answers_of(after, keys)
            found = []
            for writing, reading in ((before, after), (after, before)):
                writer, reader = (
                    Caller(gateway.client, keys["ada"]) for gateway in (writing, reading)
                )
                await writer.put("new", "An aqueduct.")
                found.append("new" in await reader.found("aqueduct"))
                await writer.call("DELETE", "/v1/documents/new")
                found.append("new" in await reader.found("aqueduct"))

    assert await migrate.migrate(database_url, migrations) == []
    assert answers_before == answers
    assert answers_after == answers
    assert found == [True, False, True, False]


async def test_statements_of_this_version_and_the_last_release_work_on_the_next_schema(
    database_url: str, connection: Connection
) -> None:
    releases = [await release.of_this_version(connection), *release.recorded()]
    await connection.execute("CREATE TABLE chunks_1 (LIKE chunks)")

    await migrate.migrate(database_url, next_version.migrations())

    assert all(len(each.statements) > 200 for each in releases)
    assert [
        problem for each in releases for problem in await release.problems(connection, each)
    ] == []


@pytest.mark.sampled("ALTER TABLE jobs ADD urgency integer NOT NULL-jobs.urgency has no default")
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("ALTER TABLE documents RENAME title TO heading", "documents.put: "),
        ("DROP TABLE usage", "usage.add: "),
        ("ALTER TABLE jobs ADD urgency integer NOT NULL", "jobs.urgency has no default"),
    ],
)
async def test_a_migration_that_breaks_this_version_is_found(
    change: str, problem: str, database_url: str, connection: Connection
) -> None:
    version = await release.of_this_version(connection)

    await migrate.migrate(
        database_url, [*shipped_migrations.shipped(), Migration("9999_next.sql", change)]
    )

    found = await release.problems(connection, version)
    assert any(each.startswith(problem) for each in found), found
