"""A page of a list is found by an index, however long the list is and whatever others have."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import cast

import pytest

from gateway.extensions.jobs.job_store import JobStore
from gateway.extensions.vector_stores.stored.file_store import File, FileListing, FileStore
from gateway.extensions.vector_stores.stored.vector_store_store import (
    AttachedFile,
    FileFilter,
    VectorStoreStore,
)
from index.model.query import Filter
from index.model.scope import Maker, everything
from index.postgres import statements
from index.postgres.connections import pool
from index.postgres.database import Database
from index.postgres.session import Session
from index.tenants.keys import KeyStore
from index.tenants.tenant_store import TenantStore
from tests.conftest import run_sql
from tests.index.support.captured_statements import unobserved
from tests.index.support.query_plans import (
    Explained,
    explained,
    explained_searches,
    indexes,
    rows_read,
)

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


@asynccontextmanager
async def explained_by_owner(url: str) -> AsyncIterator[Explained]:
    async with pool(url, 1, 10, {}) as owner, owner.acquire() as connection:
        session = Session(connection, unobserved, statements=statements.load())
        async with explained(session, connection) as explaining:
            yield explaining


@pytest.mark.sampled("False")
@pytest.mark.parametrize("analysed", [False, True])
async def test_a_page_of_keys_tokens_or_jobs_reads_none_of_other_tenants(
    database_url: str, tenants: TenantStore, *, analysed: bool
) -> None:
    await run_sql(database_url, _ROWS + ("ANALYZE" if analysed else ""))
    async with explained_by_owner(database_url) as explaining:
        database = cast("Database", explaining)
        keys = await KeyStore(database).page("acme", after="", limit=15)
        more = await KeyStore(database).page("acme", after=keys[-1].key_id, limit=15)
        tokens = await KeyStore(database).tokens_page(Maker("acme", None), after="", limit=15)
        jobs = await JobStore(database).page("acme", limit=15)

    assert [len(keys), len(more), len(tokens), len(jobs)] == [15, 5, 15, 15]
    plans = [plan for _, plan in explaining.plans]
    assert [indexes(plan, "keys") for plan in plans[:3]] == [{"keys_listed"}] * 3
    assert [rows_read(plan, "keys") for plan in plans[:3]] == [15, 5, 15]
    assert indexes(plans[3], "jobs") == {"jobs_listed"}
    assert rows_read(plans[3], "jobs") == 15


# Three files at a time have the same time, and a fifth of them no document.
_FILES = """
INSERT INTO sources (tenant, source) VALUES ('acme', 'vs_1');
INSERT INTO documents (tenant, document_id, source, title, uri, language, tags, metadata, readers)
SELECT 'acme', 'doc-' || n, 'vs_1', '', '', 'en', '{}', '{}', '{tenant}'
FROM generate_series(1, 500) AS n WHERE n % 5 <> 0;
INSERT INTO document_texts (document_key, text) SELECT document_key, '' FROM documents;
INSERT INTO files (tenant, file_id, subject, filename, purpose, content, created_at)
SELECT 'acme', 'file-' || 10007 + n * 7919 % 10007, 'ana', '', '', '', to_timestamp(n / 3)
FROM generate_series(1, 500) AS n;
INSERT INTO vector_store_files (tenant, source, file_id, document_id, subject, created_at)
SELECT 'acme', 'vs_1', 'file-' || 10007 + n * 7919 % 10007, 'doc-' || n, 'ana', to_timestamp(n / 3)
FROM generate_series(1, 500) AS n;
"""


@pytest.mark.sampled("False")
@pytest.mark.parametrize("newest_first", [False, True])
async def test_pages_of_files_read_what_they_list_in_either_order(
    database_url: str, database: Database, tenants: TenantStore, *, newest_first: bool
) -> None:
    await run_sql(database_url, _FILES)
    ana = everything("acme", "ana", [])

    async def walk(
        list_page: Callable[[FileListing], Awaitable[Sequence[File | AttachedFile]]],
    ) -> list[str]:
        ids, after = [], None
        while files := await list_page(FileListing(after, newest_first, 40)):
            after = files[-1].file_id
            assert after not in ids
            ids += [file.file_id for file in files]
        return ids

    uploaded = await walk(
        lambda page: FileStore(database).page(Maker("acme", None), page, purpose=None)
    )
    attached = await walk(
        lambda page: VectorStoreStore(database).files(ana, Filter(), "vs_1", page, maker=None)
    )
    expected = sorted(
        (number // 3, f"file-{10_007 + number * 7919 % 10_007}", number) for number in range(1, 501)
    )
    assert uploaded == [name for _, name, _ in expected][:: -1 if newest_first else 1]
    with_document = [name for _, name, number in expected if number % 5]
    assert attached == with_document[:: -1 if newest_first else 1]

    page = FileListing(attached[200], newest_first, 10)
    async with explained_by_owner(database_url) as owner:
        await FileStore(cast("Database", owner)).page(Maker("acme", None), page, purpose=None)
    async with explained_searches(database_url) as searches:
        stores = VectorStoreStore(cast("Database", searches))
        await stores.files(ana, Filter(), "vs_1", page, maker=None)
        await stores.files(ana, Filter(), "vs_1", page, FileFilter(attached[200]), maker=None)
    (_, of_uploaded), (_, of_attached), (_, of_one) = owner.plans + searches.plans
    assert rows_read(of_uploaded, "files") == 10 + 1, "those of the page, and its cursor"
    assert rows_read(of_attached, "vector_store_files") <= 10 * 5 / 4 + 2, "those without documents"
    assert rows_read(of_one, "vector_store_files") == 1
