"""What Nearhit has made in a schema is known by its SQL; what others have made is left alone."""

import asyncpg
import pytest

from index.postgres import statements
from index.postgres.database import Database
from index.postgres.functions import function_roles
from index.postgres.functions.function_roles import Connection
from index.postgres.functions.security_definer_functions import Functions
from index.postgres.setup import own_objects

pytestmark = [pytest.mark.anyio, pytest.mark.isolated]

OF_LOOK_ALIKES = """
CREATE TABLE "tenants(old)" (); CREATE TABLE documents_2025 (); CREATE TYPE keys_of AS ENUM ();
CREATE FUNCTION search_old() RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE SEQUENCE jobs_seq;
CREATE VIEW tenants_listed AS SELECT tenant FROM tenants"""
LEFT = """
SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace
UNION ALL SELECT proname FROM pg_proc
WHERE pronamespace = current_schema()::regnamespace AND NOT EXISTS (
    SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e'
)"""


@pytest.fixture(autouse=True)
async def everything(database: Database, connection: Connection) -> None:
    """The functions of all statements, and a partition that is not attached yet."""
    assert database
    for role in function_roles.ALL:
        await Functions(role).create_all(connection)
    await connection.execute(statements.load()["partitions.create_table"].format(partition_no=7))


async def test_all_that_nearhit_makes_is_its_own_and_is_dropped(connection: Connection) -> None:
    assert (await own_objects.contents(connection)).of_others == []

    async with connection.transaction():
        await connection.execute(own_objects.DROP)

        assert await connection.fetch(LEFT) == []


async def test_what_others_have_made_is_named_and_what_depends_on_nearhits_stops_the_drop(
    connection: Connection,
) -> None:
    await connection.execute(OF_LOOK_ALIKES)

    schema = await own_objects.contents(connection)
    with pytest.raises(asyncpg.RaiseError, match="view tenants_listed depends on table tenants"):
        await connection.execute(own_objects.DROP)
    await connection.execute(f"DROP VIEW tenants_listed; {own_objects.DROP}")

    assert schema.of_others == [
        "function public.search_old()",
        "sequence public.jobs_seq",
        'table public."tenants(old)"',
        "table public.documents_2025",
        "type public.keys_of",
        "view public.tenants_listed",
    ]
    left = {row["relname"] for row in await connection.fetch(LEFT)}
    assert left == {"search_old", "jobs_seq", "documents_2025", "tenants(old)"}
