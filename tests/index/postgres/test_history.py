"""The name of the database's history: when it changes, and when it stays."""

import asyncio

import asyncpg
import pytest

from index.postgres import statements
from index.tenants.tenant_store import TenantStore
from tests.conftest import run_sql

pytestmark = pytest.mark.anyio

SQL = statements.load()


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


async def held(tenants: TenantStore) -> list[int]:
    """The last revisions of acme that the database holds of each noted history, in any order."""
    by_history = await tenants.held_revisions(["acme"])
    return sorted(each["acme"] for each in by_history.values())


async def test_each_history_ends_before_the_first_write_in_a_later_one(
    tenants: TenantStore,
) -> None:
    await tenants.create("acme", "")
    ends = []
    for writes in (2, 0, 1, 0):
        for _ in range(writes):
            await tenants.invalidate("acme")
        ends.append((await tenants.revisions(["acme"]))["acme"].revision)
        await tenants.begin_history()

    assert await held(tenants) == ends
    await tenants.invalidate("acme")  # in the last one, which nobody has noted
    assert await held(tenants) == ends


async def test_a_write_that_is_rolled_back_ends_no_history(
    tenants: TenantStore, database_url: str
) -> None:
    await tenants.create("acme", "")
    before = (await tenants.revisions(["acme"]))["acme"].revision
    await tenants.begin_history()

    await run_sql(
        database_url,
        "BEGIN; UPDATE tenants SET revision = revision + 1 WHERE tenant = 'acme'; ROLLBACK",
    )
    await tenants.invalidate("acme")

    assert await held(tenants) == [before]


async def test_of_many_histories_the_last_hundred_are_known(
    tenants: TenantStore, database_url: str
) -> None:
    await tenants.create("acme", "")
    connection = await asyncpg.connect(database_url)
    try:
        for _ in range(105):  # as `begin_history`, `invalidate` and `revisions`
            await connection.execute(SQL["history.draw"], None)
            await connection.execute(
                "UPDATE tenants SET revision = revision + 1 WHERE tenant = 'acme'"
            )
            await connection.execute(SQL["history.note"])
        stored = await connection.fetchval("SELECT count(*) FROM revisions_before")
    finally:
        await connection.close()

    assert len(await held(tenants)) == 100
    assert stored <= 101


async def test_a_history_is_not_noted_where_nothing_can_be_written(database_url: str) -> None:
    connection = await asyncpg.connect(
        database_url, server_settings={"default_transaction_read_only": "on"}
    )
    try:
        await connection.execute("SELECT note_history()")
        noted = await connection.fetchval("SELECT count(*) FROM noted_histories")
    finally:
        await connection.close()

    assert noted == 0
