"""Which statements a PostgreSQL that is distributed by tenant could run on one node.

`docs/operations/scale.md` tells operators what follows for Citus.
"""

import re
from collections.abc import Mapping

import asyncpg
import pytest

from index.postgres import statements
from tests.index.support.tenant_ties import untied

pytestmark = pytest.mark.anyio

STATEMENTS = statements.load()

# Small, and the same for all tenants: a copy on each node, or on the coordinator alone.
REFERENCE_TABLES = {
    "deleted_tenant_counters",
    "histories",
    "history_numbers",
    "index_meta",
    "noted_histories",
    "read_leases",
    "replicated_history",
}
# Found by the key of a document, a chunk or a source, which has a tenant.
WITHOUT_THE_COLUMN = {"chunk_texts", "document_texts", "previous_digests", "web_pages"}

# By statement or file, why it reads or writes rows of several tenants.
OF_SEVERAL_TENANTS = {
    "audit_log.heads": "the operator's check of all chains",
    "audit_log.tenants": "the same",
    "best_scores.add": "several tenants in one statement",
    "best_scores.prune": "the same",
    "change_log.since": "public documents of other tenants",
    "consistency": "the operator's check of the index",
    "curation": "several tenants in one statement, and old questions of all tenants",
    "documents.advance": "chunks by identifier",
    "documents.prune_ended_readers": "the worker's, of all tenants",
    "documents.prune_removed": "the same",
    "documents.remove_stray_chunks": "chunks by identifier",
    "asked_questions.add": "several tenants in one statement",
    "asked_questions.add_texts": "the same",
    "asked_questions.delete_old": "the worker's, of all tenants",
    "analyser_migration": "the worker's, tenant after tenant",
    "asked_questions.prune": "several tenants in one statement",
    "embedding_migration": "the operator's, tenant after tenant",
    "history.noted": "the tenant and the public partition in one statement",
    "identifiers": "all tenants, at a migration",
    "index_audits": "the worker's plan for all tenants",
    "jobs": "one queue for all tenants, and jobs by identifier",
    "openfga.as_of": "several tenants in one statement",
    "partitions": "the worker's, a partition of many small tenants among them",
    "popularity": "public documents of other tenants, and openings of several tenants",
    "principals.delete_ended_tokens": "the worker's, of all tenants",
    "principals.ended_keys": "refused credentials, of whichever tenants",
    "principals.holder": "the tenant is not known before the key is found",
    "principals.lock_key": "the operator's keys of any tenant",
    "principals.of_subject": "keys by identifier, again",
    "principals.record_use": "keys of all tenants in one statement",
    "principals.rotate": "the key is locked before, by its identifier",
    "processes": "of the deployment, and of no tenant",
    "read_leases.announce": "several tenants in one statement",
    "replay.prune": "the worker's, of all tenants",
    "replay.shorten": "the same",
    "resident": "chunks by identifier, public documents, words of several languages",
    "search": "public documents of other tenants",
    "search_confirmation.confirm": "questions of several tenants in one statement",
    "search_confirmation.confirm_filtered": "public documents of other tenants",
    "search_documents.count": "public documents of other tenants",
    "search_documents.file": "jobs by identifier",
    "search_documents.files": "the same",
    "search_documents.newest_files": "the same",
    "sources.attention": "a count for a gauge, of all tenants",
    "search_audiences.admitted": "the tenant is compared by an array, as its index has it",
    "search_facets.counts": "public documents of other tenants",
    "search_popularity": "public documents of other tenants",
    "search_relations.held": "public documents of other tenants",
    "search_relations.related": "public documents of other tenants",
    "search_relations.replaced": "public documents of other tenants",
    "source_followers": "one queue for all tenants, and followers by identifier",
    "sources.due": "the worker's, of all tenants",
    "subscriptions.delete_unused": "the worker's, of all tenants",
    "subscriptions.existing": "those that one process watches, of several tenants",
    "subscriptions.record_use": "the same",
    "search_statistics.add": "several tenants in one statement",
    "search_statistics.latencies_of_all": "the operator's, of all tenants",
    "search_statistics.prune": "the same",
    "tenant_deletion": "batches of one tenant, found first and removed by their place on the disk",
    "tenants": "several tenants in one statement",
    "usage.add": "several tenants in one statement",
    "vector_stores.end_lost": "the worker's, of all tenants",
    "webhooks.active": "the worker's, of all tenants",
    "webhooks.get_active": "the same",
    "vocabulary": "words are compared by an array, which the planner must not estimate",
}


@pytest.fixture
async def untied_tables(database_url: str) -> Mapping[str, set[str]]:
    """By statement, the tables of which it uses more than one tenant's rows."""
    connection = await asyncpg.connect(database_url)
    rows = await connection.fetch(
        "SELECT table_name, array_agg(column_name::text) AS columns"
        " FROM information_schema.columns WHERE table_schema = 'public' GROUP BY table_name"
    )
    await connection.close()
    columns = {row["table_name"]: row["columns"] for row in rows}
    found = {name: untied(text, columns) & columns.keys() for name, text in STATEMENTS.items()}
    return {name: tables for name, tables in found.items() if tables}


async def test_a_statement_uses_one_tenants_rows_or_says_why_not(
    untied_tables: Mapping[str, set[str]],
) -> None:
    others = {
        name
        for name, tables in untied_tables.items()
        if tables - REFERENCE_TABLES - WITHOUT_THE_COLUMN
    }
    excused = {name for name in others if _reason(name)}

    assert others == excused
    used = {_reason(name) for name in others}
    assert used == OF_SEVERAL_TENANTS.keys(), "no reason is out of date"


async def test_each_table_without_a_tenant_is_known(
    untied_tables: Mapping[str, set[str]],
) -> None:
    of_one_tenant = {
        table for name, tables in untied_tables.items() if not _reason(name) for table in tables
    }
    everywhere = {table for tables in untied_tables.values() for table in tables}

    assert of_one_tenant <= REFERENCE_TABLES | WITHOUT_THE_COLUMN
    assert everywhere >= WITHOUT_THE_COLUMN


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT 1 FROM a WHERE tenant = $1", set()),
        ("SELECT 1 FROM a WHERE tenant = $1 OR true", {"a"}),
        ("SELECT 1 FROM a JOIN b USING (tenant) WHERE a.tenant = $1", set()),
        ("SELECT 1 FROM a JOIN b USING (key) WHERE a.tenant = $1", {"b"}),
        ("SELECT 1 FROM a, b WHERE a.tenant = $1 AND b.tenant = a.tenant", set()),
        ("SELECT (SELECT 1 FROM b WHERE b.tenant = a.tenant) FROM a WHERE tenant = $1", set()),
        ("SELECT 1 FROM a WHERE tenant = ANY ($1)", {"a"}),
        ("WITH x AS (SELECT tenant FROM a) DELETE FROM b USING x WHERE b.tenant = x.tenant",
         {"a", "b"}),
        ("WITH x AS (SELECT tenant FROM a WHERE tenant = $1) UPDATE b SET n = 1 FROM x"  # noqa: ISC004
         " WHERE b.tenant = x.tenant", set()),
        ("INSERT INTO a (key, tenant) VALUES ($1, $2)", set()),
        ("INSERT INTO a (tenant) SELECT tenant FROM b WHERE b.tenant = $1", set()),
        ("INSERT INTO a (tenant) SELECT tenant FROM b", {"a", "b"}),
        ("SELECT 1 FROM c", {"c"}),
    ],
)  # fmt: skip
def test_the_check_finds_each_table_that_is_not_tied(statement: str, expected: set[str]) -> None:
    columns = {"a": ["tenant", "key"], "b": ["tenant", "key"], "c": ["key"]}

    assert untied(statement, columns) == expected


def _reason(name: str) -> str | None:
    """The entry that excuses the statement."""
    names = (name, re.sub(r"\..*", "", name))
    return next((each for each in names if each in OF_SEVERAL_TENANTS), None)
