"""The functions that fill shards: they return what shards hold, and nothing else does."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from index.errors import DatabaseUnavailable
from index.postgres.database import Database
from index.postgres.functions import function_roles, security_definer_functions
from index.postgres.functions.function_roles import Connection
from index.postgres.session import Session
from index.tenants.tenant_store import TenantStore
from ingest.write.writer import Writer
from tests.index.support.samples import a_document, put

pytestmark = pytest.mark.anyio

SHARDS = function_roles.SHARDS
STATEMENTS = security_definer_functions.statements_of(SHARDS).keys()
HIDDEN = ("zanzibar", "quagmire", "xylophone", "vermilion", "juggernaut")


@pytest.fixture
async def town(writer: Writer, tenants: TenantStore) -> None:
    """A document whose every text has a word that nothing else has."""
    text, title, uri, key, value = HIDDEN
    document = a_document(
        "leave",
        f"## Leave\n\nEverybody in {text} has 25 days of leave.",
        title=f"The {title}",
        uri=f"https://{uri}.example",
        metadata={key: value},
        readers=("public",),
    )
    await put(writer, document)


@pytest.fixture
async def session(database: Database, town: None) -> AsyncIterator[Session]:
    async with database.shard_snapshot() as opened:
        yield opened


async def test_the_texts_of_documents_are_in_the_records_of_chunks_alone(session: Session) -> None:
    (document,) = await session.rows("resident.tenant_documents", "acme")
    arguments: dict[str, tuple[Any, ...]] = {
        "resident.partition": ("acme",),
        "resident.tenant_documents": ("acme",),
        "resident.public_documents": (),
        "resident.chunks": ([document["partition_no"]], [document["document_key"]]),
        "resident.changes": ("acme", 0, 10, 10),
        "resident.scores": ([], [], [], []),
        "resident.words": ("acme", "tenant", 0),
        "resident.learned_words": ("acme", "tenant", 0, 0),
        "resident.separators": ("",),
    }
    assert arguments.keys() == STATEMENTS

    for name, given in arguments.items():
        rows = [dict(row) for row in await session.rows(name, *given)]
        assert rows
        records = b"".join(row.pop("records", None) or b"" for row in rows).decode()
        assert not [word for word in HIDDEN if word in repr(rows).lower()]
        if name in ("resident.chunks", "resident.changes"):
            assert all(word in records for word in HIDDEN)


async def test_each_function_may_be_called_by_the_role_of_shards_alone(
    session: Session, connection: Connection
) -> None:
    rows = await connection.fetch(
        "SELECT proacl::text[] AS granted, proconfig, prosecdef FROM pg_proc"
        " WHERE proname ~ '^resident_'"
    )

    assert len(rows) == len(STATEMENTS)
    for row in rows:
        assert row["prosecdef"]
        assert row["proconfig"] == ["search_path=public, pg_temp"]
        assert {grant.partition("=")[0] for grant in row["granted"]} == {"nearhit", SHARDS.name}


async def test_a_session_that_fills_shards_is_refused_every_table(session: Session) -> None:
    assert await session.connection.fetchval("SELECT current_user") == SHARDS.name
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await session.connection.execute("SELECT FROM document_texts")


async def test_a_session_that_fills_shards_runs_no_statement_of_the_owners(
    session: Session, database: Database
) -> None:
    for name in ("documents.stored", "search.exact"):
        with pytest.raises(KeyError):
            await session.rows(name)
    for name in STATEMENTS:
        with pytest.raises(KeyError):
            await database.rows(name)


async def test_after_the_snapshot_the_connection_is_the_owners_again(
    database: Database, town: None
) -> None:
    async with database.shard_snapshot() as session:
        before = await session.connection.fetchval("SELECT pg_backend_pid()")
    async with database.session() as session:
        assert await session.connection.fetchval("SELECT pg_backend_pid()") == before
        assert await session.connection.fetchval("SELECT current_user") == "nearhit"


async def test_functions_that_are_dropped_are_created_again(
    database: Database, town: None, connection: Connection
) -> None:
    async with database.shard_snapshot() as session:
        assert await session.row("resident.partition", "acme")
    for row in await connection.fetch(
        "SELECT oid::regprocedure::text AS name FROM pg_proc WHERE proname ~ '^resident_'"
    ):
        await connection.execute(f"DROP FUNCTION {row['name']}")

    with pytest.raises(DatabaseUnavailable):
        async with database.shard_snapshot() as session:
            await session.row("resident.partition", "acme")

    async with database.shard_snapshot() as session:
        assert await session.row("resident.partition", "acme")
