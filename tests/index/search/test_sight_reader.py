"""What scopes see, read from PostgreSQL; and when the number rises that it belongs to."""

from collections.abc import Awaitable, Callable
from itertools import product

import pytest

from index.documents.document_store import DocumentStore
from index.model.scope import SCOPE_NAMES, Scope, resolve
from index.model.sight import sight_digest
from index.postgres.database import Database
from index.search import sight_reader
from index.search.sight_reader import Sight, SightReader
from index.tenants.tenant_store import TenantRevisions, TenantStore
from ingest.write.writer import Writer
from tests.index.support.samples import a_document, subsets
from tests.threads import new_threads

pytestmark = pytest.mark.anyio

Put = Callable[..., Awaitable[None]]


@pytest.fixture
def put(writer: Writer) -> Put:
    async def put(document_id: str, *readers: str, owner: str | None = None) -> None:
        written = a_document(document_id, readers=readers, owner=owner)
        await writer.put("acme", document_id, lambda _stored: written, may_publish=True)

    return put


async def counters(tenants: TenantStore) -> TenantRevisions:
    return (await tenants.revisions(["acme"]))["acme"]


async def test_the_audience_revision_rises_exactly_if_the_set_of_audiences_changes(
    put: Put, writer: Writer, tenants: TenantStore
) -> None:
    async def rises(change: Awaitable[object]) -> bool:
        before = await counters(tenants)
        await change
        after = await counters(tenants)
        assert after.revision > before.revision
        return after.audience_revision > before.audience_revision

    async def share(document_id: str, *readers: str) -> None:
        shared = a_document(document_id, readers=readers, owner=None)
        await writer.put_access("acme", document_id, lambda _stored: shared)

    assert await rises(put("first", "tenant")), "the first document"
    assert not await rises(put("second", "tenant")), "another one of its audience"
    assert await rises(put("mine", "tenant", owner="ana")), "the first of an owner"
    assert await rises(share("second", "group:x")), "the first that a group reads"
    assert await rises(share("second", "tenant")), "the last that it reads"
    assert await rises(put("third", "group:y"))
    assert await rises(writer.remove("acme", "third", lambda _stored: None)), "the last of one"
    assert not await rises(writer.remove("acme", "second", lambda _stored: None))


async def test_a_new_tenant_of_an_old_name_begins_beyond_its_audience_revisions(
    put: Put, database: Database, tenants: TenantStore
) -> None:
    for number in range(5):
        await put("document", f"group:{number}")
    before = await counters(tenants)

    async with database.session() as session:
        await session.rows("tenant_deletion.keep_counters", "acme")
        await session.connection.execute("DELETE FROM tenants WHERE tenant = 'acme'")
    await tenants.create("acme", "Acme")

    assert (await counters(tenants)).audience_revision > before.audience_revision


async def test_a_sight_is_of_what_the_scope_admits(
    put: Put, database: Database, tenants: TenantStore
) -> None:
    audiences = []
    for owner, readers in product([None, "ana", "ben"], subsets(["user:ana", "group:x", "public"])):
        await put(f"of {owner} to {sorted(readers)}", *readers, owner=owner)
        audiences.append((owner, frozenset(readers)))
    now = await counters(tenants)
    reader = SightReader(database, new_threads())

    for names, groups in product(subsets(SCOPE_NAMES), [[], ["x", "y"]]):
        scope = resolve("acme", "ana", groups, names)
        admitted = [
            readers | ({f"owner:{owner}"} if owner else set())
            for owner, readers in audiences
            if scope.admits(owner, readers)
        ]
        sight = await reader.read(scope, now.history, now.audience_revision)
        assert sight is not None
        assert sight.digest == sight_digest(scope, admitted, ["group:x"])
        assert reader.known(scope, now.history, now.audience_revision) is sight
        assert reader.recent(scope)[0] is sight


@pytest.fixture
def ana() -> Scope:
    return resolve("acme", "ana", ["x"], SCOPE_NAMES)


async def test_a_sight_of_another_moment_is_none_and_is_remembered_for_its_own(
    put: Put, database: Database, tenants: TenantStore, ana: Scope
) -> None:
    before = await counters(tenants)
    await put("document", "group:x")
    now = await counters(tenants)
    reader = SightReader(database, new_threads())

    assert await reader.read(ana, before.history, before.audience_revision) is None
    assert await reader.read(ana, "another history", now.audience_revision) is None
    assert isinstance(reader.known(ana, now.history, now.audience_revision), Sight)
    reader.forget(ana, before.audience_revision)
    assert len(reader.recent(ana)) == 2
    reader.forget(ana, now.audience_revision)
    assert reader.recent(ana) == ()


async def test_who_sees_too_many_audiences_has_no_digest(
    database: Database, documents: DocumentStore, tenants: TenantStore, ana: Scope
) -> None:
    async with database.session() as session:
        await session.connection.execute(
            "INSERT INTO audiences (tenant, allowed_tokens)"
            " SELECT 'acme', ARRAY['group:x', 'owner:' || number]"
            " FROM generate_series(0, $1::integer) AS number",
            sight_reader.AUDIENCES_MAX,
        )
    now = await counters(tenants)

    sight = await SightReader(database, new_threads()).read(ana, now.history, now.audience_revision)

    assert sight == Sight(now.history, now.audience_revision, None)


async def test_a_group_counts_from_its_first_document_on(
    put: Put, writer: Writer, database: Database, tenants: TenantStore
) -> None:
    async def digests() -> list[bytes | None]:
        now, reader = await counters(tenants), SightReader(database, new_threads())
        scopes = [resolve("acme", "eve", groups, SCOPE_NAMES) for groups in (["x"], ["x", "y"])]
        sights = [await reader.read(s, now.history, now.audience_revision) for s in scopes]
        return [sight.digest for sight in sights if sight is not None]

    await put("document", "group:x")
    before = await digests()
    await put("another", "group:y")
    await writer.remove("acme", "another", lambda _stored: None)
    after = await digests()

    assert before[0] == before[1]
    assert after[0] != after[1], "the words of the removed document are still known"


async def test_a_tenant_that_is_not_there_has_no_sight(database: Database) -> None:
    nobody = resolve("nobody", "ana", [], SCOPE_NAMES)

    assert await SightReader(database, new_threads()).read(nobody, "a1", 0) is None
