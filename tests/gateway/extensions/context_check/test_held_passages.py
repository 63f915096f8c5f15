"""Which document replaces one that a caller holds, and what it costs to find out."""

from typing import Any, cast

import pytest

from gateway.extensions.context_check.held_passages import HeldPassage, HeldPassages
from index.model.query import Filter
from index.model.scope import everything
from index.postgres.database import Database
from index.tenants.tenant_store import TenantStore
from tests.conftest import run_sql
from tests.index.conftest import (
    database,
    reused,
    reused_databases,
    settings,
    tenants,
)
from tests.index.support.query_plans import explained_searches, nodes

__all__ = [  # fixtures
    "database",
    "reused",
    "reused_databases",
    "settings",
    "tenants",
]

pytestmark = pytest.mark.anyio

HELD = 200  # and as many that replace another document
_INSERT = """
INSERT INTO sources (tenant, source) VALUES ('acme', 's');
INSERT INTO documents
    (tenant, document_id, source, title, uri, language, tags, metadata, readers, chunks)
SELECT 'acme', document_id, 's', '', '', 'en', '{{}}', metadata, '{{tenant}}', 1
FROM ({}) AS documents (document_id, metadata)
"""
_NAMED = """VALUES
    ('old', '{}'::jsonb), ('1', '{}'), ('own', '{"replaces": ["own"]}'),
    ('b', '{"replaces": "old"}'), ('a', '{"replaces": ["x", "old"]}'), ('c', '{"replaces": [1]}')
"""
_MANY = f"""
SELECT 'new' || n, jsonb_build_object('replaces', jsonb_build_array('old' || n, 'none'))
FROM generate_series(1, {HELD}) AS n
UNION ALL SELECT 'old' || n, '{{}}' FROM generate_series(1, {HELD}) AS n
"""  # noqa: S608  a number of the test


def held(*document_ids: str) -> list[HeldPassage]:
    return [HeldPassage(None, "acme", each, None) for each in document_ids]


async def test_the_first_other_document_whose_metadata_names_it_replaces_it(
    database: Database, database_url: str, tenants: TenantStore
) -> None:
    await run_sql(database_url, _INSERT.format(_NAMED))

    found = await HeldPassages(database).check(
        everything("acme", "ana", []), Filter(), held("old", "own", "1", "x")
    )

    assert [each.state for each in found] == ["current", "current", "current", "gone"]
    assert [each.replaced_by for each in found] == ["a", None, None, None]


@pytest.mark.parametrize("analysed", [False, True])
async def test_a_check_looks_at_each_replacing_document_once_and_not_for_each_passage(
    database_url: str, tenants: TenantStore, *, analysed: bool
) -> None:
    await run_sql(database_url, _INSERT.format(_MANY) + ("; ANALYZE" if analysed else ""))

    asked = held(*(f"old{n}" for n in range(1, HELD + 1)))
    async with explained_searches(database_url) as searches:
        store = HeldPassages(cast("Database", searches))
        found = await store.check(everything("acme", "ana", []), Filter(), asked)

    assert [each.replaced_by for each in found] == [f"new{n}" for n in range(1, HELD + 1)]
    ((_, plan),) = searches.plans
    assert max(map(_rows_met, nodes(plan))) == 2 * HELD


def _rows_met(part: dict[str, Any]) -> int:
    """How often a part of the plan met a document that is held, or one that another replaces."""
    if part.get("CTE Name") not in {"found", "replacing"} and "Function Name" not in part:
        return 0
    rows: float = part["Actual Rows"] + part.get("Rows Removed by Filter", 0)
    return round(rows * float(part["Actual Loops"]))
