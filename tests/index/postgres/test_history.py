"""The name of the database's history: when it changes, and when it stays."""

import asyncio

import asyncpg
import pytest

from index.tenants.tenant_store import TenantStore
from tests.conftest import run_sql

pytestmark = pytest.mark.anyio


async def history(tenants: TenantStore) -> str:
    return (await tenants.all_revisions())[0]


async def test_writes_and_analysis_leave_the_name(tenants: TenantStore, database_url: str) -> None:
    before = await history(tenants)

    await tenants.create("acme", "")
    await tenants.add_member("acme", "staff", "ana")
    await run_sql(database_url, "VACUUM ANALYZE tenants")

    assert await history(tenants) == before


async def test_a_table_that_is_rewritten_has_another_name(
    tenants: TenantStore, database_url: str
) -> None:
    before = await history(tenants)

    await run_sql(database_url, "VACUUM FULL tenants")

    assert await history(tenants) != before


async def test_no_setting_of_a_session_has_a_part_in_the_name(
    tenants: TenantStore, database_url: str
) -> None:
    settings = {"TimeZone": "Asia/Tokyo", "DateStyle": "SQL", "extra_float_digits": "-15"}
    connection = await asyncpg.connect(database_url, server_settings=settings)
    try:
        named = await connection.fetchval("SELECT history FROM histories")
    finally:
        await connection.close()

    assert named == await history(tenants)


async def test_of_many_who_find_the_database_gone_back_one_draws_a_name(
    tenants: TenantStore,
) -> None:
    before = await history(tenants)

    await asyncio.gather(*(tenants.begin_history(instead_of=before) for _ in range(8)))
    after = await history(tenants)
    await tenants.begin_history(instead_of=before)

    assert after != before
    assert await history(tenants) == after
