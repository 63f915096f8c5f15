"""The roles that call functions: made where missing, refused where they may do too much."""

import asyncio
import re
import secrets
from collections.abc import AsyncIterator
from dataclasses import replace

import asyncpg
import pytest

from gateway.extensions.embedded_servers.owned_servers import Servers
from index.errors import RoleRefused
from index.model.query import Query
from index.model.scope import everything
from index.postgres.functions import function_roles
from index.postgres.functions.function_roles import Connection, FunctionRole
from index.search.searcher import Searcher
from ingest.write.writer import Writer
from tests.conftest import named, run_sql
from tests.index.conftest import connected
from tests.index.support.samples import PLAIN, put

pytestmark = pytest.mark.anyio

SEARCH = function_roles.SEARCH.name


def as_role(name: str) -> FunctionRole:
    """Searches' role by another name: roles belong to the server, and other tests need theirs."""
    return replace(function_roles.SEARCH, name=name)


@pytest.fixture
async def other(servers: Servers) -> AsyncIterator[str]:
    """The name of a role that is not there, or is gone at the end."""
    name = f"nearhit_test_{secrets.token_hex(6)}"
    yield name
    await run_sql(servers.database_url, f"DROP ROLE IF EXISTS {name}")


@pytest.fixture(params=[role.name for role in function_roles.ALL])
async def acting(request: pytest.FixtureRequest, database_url: str) -> AsyncIterator[Connection]:
    """A session of each role."""
    connection = await asyncpg.connect(database_url, server_settings={"role": request.param})
    yield connection
    await connection.close()


async def test_the_roles_session_is_refused_every_table_and_every_column(
    connection: Connection, acting: Connection
) -> None:
    tables = await connection.fetch(
        "SELECT oid::regclass::text AS name, relkind <> 'v' AS is_table FROM pg_class"
        " WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')"
    )
    columns = await connection.fetch(
        "SELECT attrelid::regclass::text AS of, attname AS name FROM pg_attribute"
        " WHERE attrelid = ANY ($1::text[]::regclass[]) AND NOT attisdropped",
        [table["name"] for table in tables],
    )
    names = [table["name"] for table in tables]

    assert {"documents", "document_texts", "chunks", "chunks_0", "chunk_texts", "keys"} <= set(
        names
    )
    for statement in (
        *(f"SELECT FROM {name}" for name in names),
        *(f'SELECT "{column["name"]}" FROM {column["of"]}' for column in columns),  # noqa: S608
        *(f"DELETE FROM {name}" for name in names),  # noqa: S608  names of the catalogue
        *(f"TRUNCATE {table['name']}" for table in tables if table["is_table"]),
        *(f"COPY {name} TO STDOUT" for name in names),
        "CREATE TABLE mine (n integer)",
        "SELECT nextval('document_versions')",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await acting.execute(statement)


@pytest.mark.parametrize("statement", ["RESET ROLE", "RESET ALL", "DISCARD ALL"])
async def test_what_resets_a_session_leads_back_to_the_role(
    acting: Connection, statement: str
) -> None:
    await acting.execute(statement)

    assert await acting.fetchval("SELECT current_user") in {
        role.name for role in function_roles.ALL
    }


@pytest.mark.sampled("GRANT SELECT ON documents TO nearhit_search-may read or change documents")
@pytest.mark.parametrize(
    ("granted", "told"),
    [
        ("GRANT SELECT ON documents TO nearhit_search", "may read or change documents"),
        ("GRANT SELECT ON keys TO PUBLIC", "may read or change keys"),
        ("GRANT SELECT (text) ON chunk_texts TO PUBLIC", "may read or change chunk_texts"),
        ("GRANT UPDATE ON tenants TO nearhit_search", "may read or change tenants"),
        ("GRANT USAGE ON SEQUENCE chunk_ids TO PUBLIC", "may read or change chunk_ids"),
        (
            "CREATE VIEW leak AS SELECT * FROM document_texts; GRANT SELECT ON leak TO PUBLIC",
            "may read or change leak",
        ),
        (
            "CREATE FUNCTION leak(text) RETURNS text LANGUAGE sql SECURITY DEFINER RETURN $1",
            r"may call leak\(text\), which acts as",
        ),
        (
            "CREATE FUNCTION search_walk_00000000() RETURNS int SECURITY DEFINER RETURN 1",
            r"may call search_walk_00000000\(\), which acts as",
        ),
        ("GRANT CREATE ON SCHEMA public TO PUBLIC", "may create things in the schema public"),
        ("GRANT SELECT ON document_texts TO nearhit_shards", "may read or change document_texts"),
        (
            "CREATE FUNCTION resident_texts_00000000() RETURNS int SECURITY DEFINER RETURN 1",
            r"may call resident_texts_00000000\(\), which acts as",
        ),
    ],
)
async def test_a_role_that_may_do_more_stops_the_start_and_what_the_message_says_mends_it(
    database_url: str, connection: Connection, granted: str, told: str
) -> None:
    await connection.execute(granted)

    with pytest.raises(RoleRefused, match=told) as refused:
        async with connected(database_url):
            pass

    (remedy,) = re.findall(r": (REVOKE [^;]+)", str(refused.value))
    await connection.execute(remedy)
    async with connected(database_url):
        pass


async def test_the_functions_of_searches_are_no_reason_to_stop(
    database_url: str, searcher: Searcher, writer: Writer
) -> None:
    await put(writer, PLAIN)
    assert (
        await searcher.search(
            everything("acme", "ana", [], receives_public=True), Query("annual leave")
        )
    ).hits

    async with connected(database_url):
        pass


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("ALTER ROLE {} SUPERUSER", "is SUPERUSER: ALTER ROLE {} NOSUPERUSER"),
        ("ALTER ROLE {} BYPASSRLS", "is BYPASSRLS: ALTER ROLE {} NOBYPASSRLS"),
        ("GRANT pg_read_all_data TO {}", "is a member of pg_read_all_data: REVOKE"),
    ],
)
async def test_a_role_that_is_more_than_a_role_for_searches_is_refused(
    connection: Connection, other: str, given: str, told: str
) -> None:
    await function_roles.create(connection, as_role(other))
    await function_roles.check_rights(connection, [as_role(other)])
    await connection.execute(given.format(other))

    with pytest.raises(RoleRefused, match=told.format(other)):
        await function_roles.check_rights(connection, [as_role(other)])


async def test_a_pooler_that_forgets_the_role_is_found_out(connection: Connection) -> None:
    with pytest.raises(RoleRefused, match="acts as nearhit: connect without a pooler"):
        await function_roles.check_acting(connection, function_roles.SEARCH)


async def test_many_may_make_the_role_at_once(
    servers: Servers, database_url: str, other: str
) -> None:
    """On two databases of one server, which know nothing of each other's locks."""
    urls = [database_url, named(servers.database_url, "nearhit")] * 4
    connections = [await asyncpg.connect(url) for url in urls]
    try:
        await asyncio.gather(
            *(function_roles.create(connection, as_role(other)) for connection in connections)
        )

        for connection in connections:
            await connection.execute(f"SET ROLE {other}")
    finally:
        for connection in connections:
            await connection.close()


@pytest.fixture
async def modest(servers: Servers, database_url: str, other: str) -> AsyncIterator[Connection]:
    """An owner of tables who may make no roles."""
    password = secrets.token_hex(8)
    name = f"{other}_owner"
    await run_sql(servers.database_url, f"CREATE ROLE {name} LOGIN PASSWORD '{password}'")
    connection = await asyncpg.connect(database_url, user=name, password=password)
    yield connection
    await connection.close()
    await run_sql(servers.database_url, f"DROP ROLE {name}")


@pytest.mark.parametrize("is_there", [False, True])
async def test_who_may_make_no_roles_is_told_what_an_administrator_has_to_run(
    connection: Connection, modest: Connection, other: str, *, is_there: bool
) -> None:
    create = f"CREATE ROLE {other} NOLOGIN; "
    if is_there:
        await connection.execute(create)

    with pytest.raises(RoleRefused, match="administrator of the server must run: ") as refused:
        await function_roles.create(modest, as_role(other))

    remedy = str(refused.value).partition("run: ")[2]
    assert (create in remedy) is not is_there
    await connection.execute(remedy)
    await function_roles.create(modest, as_role(other))


async def test_who_may_make_roles_needs_no_administrator(
    connection: Connection, modest: Connection, other: str
) -> None:
    await connection.execute(f"ALTER ROLE {other}_owner CREATEROLE")

    await function_roles.create(modest, as_role(other))

    await modest.execute(f"SET ROLE {other}")
    await connection.execute(f"DROP ROLE {other}")  # before who has made it
