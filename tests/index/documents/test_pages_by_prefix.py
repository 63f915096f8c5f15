"""Pages of documents by the beginning of their identifiers, compared with Python's own order."""

from collections.abc import AsyncIterator
from itertools import product

import asyncpg
import pytest

from gateway.extensions.embedded_servers.owned_servers import Servers
from index.documents.visible_documents import VisibleDocuments
from index.model.document import DOCUMENT_ID_CHARACTERS_MAX
from index.model.query import Filter
from index.model.scope import everything, resolve
from index.tenants.tenant_store import TenantStore
from tests.conftest import fresh_settings
from tests.database_copies import DatabaseCopies
from tests.index.conftest import connected

pytestmark = pytest.mark.anyio

HIGHEST = "\U0010ffff"
# Letters that a language orders in another way than by code points, wildcards of LIKE, and the
# characters beside the surrogates.
CHARACTERS = [
    "a",
    "B",
    "é",
    "%",
    "_",
    "\\",
    " ",
    "\ud7ff",
    "\ue000",
    "\uffff",
    "\U00010000",
    HIGHEST,
]
SHORT = [*CHARACTERS, *("".join(pair) for pair in product(CHARACTERS, repeat=2))]
LONG = [
    character * length
    for character in ("a", HIGHEST)
    for length in (DOCUMENT_ID_CHARACTERS_MAX - 1, DOCUMENT_ID_CHARACTERS_MAX)
]
IDENTIFIERS = [*SHORT, *(f"{character}a{HIGHEST}" for character in CHARACTERS), *LONG]
MAIL, HIDDEN, INACTIVE = (set(IDENTIFIERS[remainder::5]) for remainder in range(3))

_INSERT = """
INSERT INTO documents
    (tenant, document_id, source, title, uri, language, tags, metadata, readers, is_active)
SELECT $1, document_id, source, '', '', 'en', '{}', '{}', string_to_array(reader, ','), is_active
FROM unnest($2::text[], $3::text[], $4::text[], $5::boolean[])
    AS documents (document_id, source, reader, is_active)"""


@pytest.fixture(scope="module")
async def listed(servers: Servers, databases: DatabaseCopies) -> AsyncIterator[VisibleDocuments]:
    """Documents of acme, and public ones of beta; nothing changes them."""
    async with fresh_settings(servers, databases) as own:
        assert own.database_url is not None
        url = own.database_url.get_secret_value()
        async with connected(url) as database:
            for tenant in ("acme", "beta"):
                await TenantStore(database).create(tenant, tenant)
            await _insert(url)
            yield VisibleDocuments(database)


async def _insert(url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        for tenant in ("acme", "beta"):
            sources = "INSERT INTO sources (tenant, source) VALUES ($1, 'mail'), ($1, 'wiki')"
            await connection.execute(sources, tenant)
        columns = (
            ["mail" if each in MAIL else "wiki" for each in IDENTIFIERS],
            ["user:ben" if each in HIDDEN else "tenant" for each in IDENTIFIERS],
            [each not in INACTIVE for each in IDENTIFIERS],
        )
        await connection.execute(_INSERT, "acme", IDENTIFIERS, *columns)
        of_beta = [f"{each}b" for each in SHORT]
        public = (["wiki"] * len(SHORT), ["public"] * len(SHORT), [True] * len(SHORT))
        await connection.execute(_INSERT, "beta", of_beta, *public)
    finally:
        await connection.close()


ANA = everything("acme", "ana", [], receives_public=True)
VISIBLE = sorted(set(IDENTIFIERS) - HIDDEN - INACTIVE)
PREFIXES = ["", *SHORT, "aa%", "BB", *LONG, HIGHEST * 3, f"{HIGHEST}a", "ab\ud7ff"]


async def page(
    documents: VisibleDocuments,
    prefix: str,
    after: str = "",
    *,
    limit: int = 1_000,
    source: str | None = None,
) -> list[str]:
    rows = await documents.page(
        ANA, Filter(), after=after, source=source, prefix=prefix, limit=limit
    )
    return [row.document.document_id for row in rows]


def expected(
    prefix: str, after: str = "", *, limit: int = 1_000, source: str | None = None
) -> list[str]:
    return [
        each
        for each in VISIBLE
        if each.startswith(prefix) and each > after and (source is None or each in MAIL)
    ][:limit]


@pytest.mark.parametrize("source", [None, "mail"])
async def test_the_pages_of_each_prefix_are_its_documents_by_code_points(
    listed: VisibleDocuments, source: str | None
) -> None:
    assert sum(bool(expected(prefix)) for prefix in PREFIXES) > 100
    for prefix in PREFIXES:
        ids, after = [], ""
        while rows := await page(listed, prefix, after, limit=9, source=source):
            assert rows[0] > after
            ids += rows
            after = rows[-1]
        assert ids == expected(prefix, source=source), prefix


@pytest.mark.thorough
async def test_a_page_begins_after_any_cursor_within_and_outside_of_the_prefix(
    listed: VisibleDocuments,
) -> None:
    for prefix, after in product(["", "a", "B", "é", "\ud7ff", HIGHEST, "%_"], [*SHORT, *LONG]):
        found = await page(listed, prefix, after, limit=2)
        assert found == expected(prefix, after, limit=2), (prefix, after)


async def test_a_prefix_shows_nothing_to_a_scope_that_sees_nothing_of_it(
    listed: VisibleDocuments,
) -> None:
    hidden = min(HIDDEN)
    others = resolve("acme", "cid", [], ["private", "shared"])
    for scope, prefix in ((ANA, hidden), (others, ""), (others, "a")):
        rows = await listed.page(scope, Filter(), after="", prefix=prefix, limit=1_000)
        shown = {row.document.document_id for row in rows}
        assert shown == (set(expected(prefix)) if scope is ANA else set())

    rows = await listed.page(ANA, Filter(), after="", prefix="a", limit=1_000, sees_inactive=True)
    with_inactive = sorted(set(IDENTIFIERS) - HIDDEN)
    assert [row.document.document_id for row in rows] == [
        each for each in with_inactive if each.startswith("a")
    ]
    assert any(each.startswith("a") for each in INACTIVE)
