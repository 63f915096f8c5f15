"""A page of a tenant's list is found by an index, whatever other tenants have."""

from typing import cast

import pytest

from index.jobs.job_queue import JobQueue
from index.postgres import statements
from index.postgres.connections import pool
from index.postgres.database import Database
from index.postgres.session import Session
from index.tenants.keys import KeyStore
from index.tenants.tenant_store import TenantStore
from tests.conftest import run_sql
from tests.index.support.captured_statements import unobserved
from tests.index.support.query_plans import explained, indexes, rows_read

pytestmark = pytest.mark.anyio

# Of acme every hundredth key, token and job, all others of beta.
_ROWS = """
INSERT INTO keys (key_id, tenant, digest, subject, groups, roles, is_token, expires_at)
SELECT
    'key_' || md5(n::text), CASE WHEN n % 100 < 2 THEN 'acme' ELSE 'beta' END,
    sha256(n::text::bytea), 'ana', '{}', '{}', n % 2 = 1, 'infinity'
FROM generate_series(1, 2000) AS n;
INSERT INTO jobs (job_id, tenant, kind, target, attempts_max)
SELECT
    'job_' || n, CASE WHEN n % 100 = 0 THEN 'acme' ELSE 'beta' END, 'document.write',
    'document:' || n, 1
FROM generate_series(1, 2000) AS n;
"""


@pytest.mark.parametrize("analysed", [False, True])
async def test_a_page_of_keys_tokens_or_jobs_reads_none_of_other_tenants(
    database_url: str, tenants: TenantStore, *, analysed: bool
) -> None:
    await run_sql(database_url, _ROWS + ("ANALYZE" if analysed else ""))
    async with (
        pool(database_url, 1, 10, {}) as owner,
        owner.acquire() as connection,
        explained(
            Session(connection, unobserved, statements=statements.load()), connection
        ) as explaining,
    ):
        database = cast("Database", explaining)
        keys = await KeyStore(database).page("acme", after="", limit=15)
        more = await KeyStore(database).page("acme", after=keys[-1].key_id, limit=15)
        tokens = await KeyStore(database).tokens_page("acme", None, None, after="", limit=15)
        jobs = await JobQueue(database).page("acme", limit=15)

    assert [len(keys), len(more), len(tokens), len(jobs)] == [15, 5, 15, 15]
    plans = [plan for _, plan in explaining.plans]
    assert [indexes(plan, "keys") for plan in plans[:3]] == [{"keys_listed"}] * 3
    assert [rows_read(plan, "keys") for plan in plans[:3]] == [15, 5, 15]
    assert indexes(plans[3], "jobs") == {"jobs_listed"}
    assert rows_read(plans[3], "jobs") == 15
