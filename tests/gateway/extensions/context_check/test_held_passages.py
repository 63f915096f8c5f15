"""Which document replaces one that a caller holds, and what it costs to find out."""

from typing import Any, cast

import pytest

from gateway.extensions.context_check.held_passages import HeldPassage, HeldPassages
from index.model.query import Filter
from index.model.scope import everything
from index.postgres.database import Database
from index.tenants.tenant_store import TenantStore
from tests.conftest import run_sql
from tests.index.conftest import *  # noqa: F403  the fixtures
from tests.index.support.query_plans import explained_searches, nodes

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
# The document `old` was written at the revisions 5 and 6, and got a chunk at each.
_WRITTEN = """
INSERT INTO chunk_texts (chunk_id, document_key, digest, start_at, end_at, text)
SELECT place, document_key, '', place, place + 1, text
FROM documents, unnest('{a, b, c}'::text[]) WITH ORDINALITY AS texts (text, place)
WHERE document_id = 'old';
INSERT INTO change_log
    (tenant, revision, added_chunks, removed_chunks, updated_chunks, committed_at)
SELECT
    'acme', revision, ARRAY[revision - 3], '{}', '{}',
    updated_at - make_interval(secs => 6 - revision)
FROM documents, generate_series(4, 6) AS revision WHERE document_id = 'old';
DELETE FROM chunk_texts WHERE text = 'a'
"""
_FORGET = "DELETE FROM change_log WHERE "
_ADD = """
UPDATE change_log SET added_chunks = added_chunks || ARRAY(SELECT 9 FROM generate_series(1, {}))
WHERE revision = 6
"""


def held(*document_ids: str) -> list[HeldPassage]:
    return [HeldPassage(None, "acme", each) for each in document_ids]


async def test_the_first_other_document_whose_metadata_names_it_replaces_it(
    database: Database, database_url: str, tenants: TenantStore
) -> None:
    await run_sql(database_url, _INSERT.format(_NAMED))

    found = await HeldPassages(database).check(
        everything("acme", "ana", []), Filter(), held("old", "own", "1", "x")
    )

    assert [each.state for each in found] == ["current", "current", "current", "gone"]
    assert [each.replaced_by for each in found] == ["a", None, None, None]


@pytest.mark.parametrize(
    ("forgets", "since", "state", "is_known"),
    [
        ("false", 6, "current", True),
        ("false", 5, "edited", True),
        ("revision < 6", 5, "edited", True),
        ("revision < 6", 4, "edited", False),
        ("true", 6, "edited", False),
    ],
)
async def test_what_changed_is_known_while_all_changes_since_are_stored(
    database: Database,
    database_url: str,
    tenants: TenantStore,
    *,
    forgets: str,
    since: int,
    state: str,
    is_known: bool,
) -> None:
    await run_sql(database_url, f"{_INSERT.format(_NAMED)}; {_WRITTEN}; {_FORGET}{forgets}")

    passages = [
        HeldPassage(chunk_id, "acme", "old", since={"acme": since}) for chunk_id in (None, 1)
    ]
    whole, chunk = await HeldPassages(database).check(
        everything("acme", "ana", []), Filter(), passages
    )

    assert (whole.state, chunk.state) == (state, "edited")
    expected = ["b", "c"] if since < 5 else ["c"] if since == 5 else []
    texts = None if chunk.changed is None else [each.text for each in chunk.changed]
    assert texts == (expected if is_known else None)


@pytest.mark.parametrize("added", [1_999, 2_001])
async def test_too_much_that_was_added_is_not_read(
    database: Database, database_url: str, tenants: TenantStore, added: int
) -> None:
    await run_sql(database_url, f"{_INSERT.format(_NAMED)}; {_WRITTEN}; {_ADD.format(added)}")

    (chunk,) = await HeldPassages(database).check(
        everything("acme", "ana", []), Filter(), [HeldPassage(1, "acme", "old", since={"acme": 5})]
    )

    assert (chunk.changed is None) == (added > 2_000)


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
