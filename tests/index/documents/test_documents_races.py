"""Writers of documents that meet: who planned from what is gone is refused, and none waits on."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import asyncpg
import pytest

from index.documents.document_store import DocumentStore
from index.documents.outbox import CommitResult
from index.documents.stored_document import StoredDocument
from index.model.document import Document
from index.tenants.tenant_store import TenantStore
from tests.index.support.commits import (
    Rows,
    a_write,
    apply,
    revision,
    revisions_of,
    write_again,
    written,
)
from tests.index.support.samples import a_document

pytestmark = pytest.mark.anyio

Change = Callable[[DocumentStore, StoredDocument], Awaitable[CommitResult | None]]


async def share(documents: DocumentStore, stored: StoredDocument) -> CommitResult | None:
    return await documents.put_access(
        "acme", stored, replace(stored.document, owner="eve", readers=("public",))
    )


async def remove(documents: DocumentStore, stored: StoredDocument) -> CommitResult | None:
    return await documents.remove("acme", stored)


async def remove_and_write_again(
    documents: DocumentStore, stored: StoredDocument
) -> CommitResult | None:
    await documents.remove("acme", stored)
    return await apply(documents, "acme", a_write(stored.document, added=["a"]))


@pytest.mark.parametrize("between", [write_again, share, remove, remove_and_write_again])
async def test_what_was_planned_from_a_version_that_is_gone_is_refused_and_changes_nothing(
    documents: DocumentStore, tenants: TenantStore, rows: Rows, between: Change
) -> None:
    planned_from = await written(documents, a_document("leave"), "a")
    assert await between(documents, planned_from) is not None
    before = await documents.stored("acme", "leave")
    changes = await rows.changes("acme")

    for late in (write_again, share, remove):
        assert await late(documents, planned_from) is None

    assert await documents.stored("acme", "leave") == before
    assert await rows.changes("acme") == changes
    assert await revision(tenants, "public") == (1 if between is share else 0)


async def test_a_new_document_that_another_writer_stored_first_is_refused(
    documents: DocumentStore,
) -> None:
    await written(documents, a_document("leave"), "a")

    assert await apply(documents, "acme", a_write(a_document("leave"), added=["b"])) is None


async def test_a_next_version_of_a_document_that_was_never_there_is_refused(
    documents: DocumentStore, tenants: TenantStore
) -> None:
    assert await apply(documents, "acme", a_write(a_document("leave"), version=1)) is None
    assert await revision(tenants, "acme") == 0


async def test_of_writers_that_planned_from_the_same_version_one_is_let_through(
    documents: DocumentStore, rows: Rows
) -> None:
    stored = await written(documents, a_document("leave"), "a")

    outcomes = await asyncio.gather(*(write_again(documents, stored) for _ in range(10)))

    assert [outcome.revisions for outcome in outcomes if outcome] == [{"acme": 2}]
    assert await rows.count("chunks") == 2


@pytest.mark.slow
async def test_twenty_writers_at_once_raise_the_revision_one_by_one(
    documents: DocumentStore, rows: Rows
) -> None:
    committed = await asyncio.gather(
        *(
            apply(documents, "acme", a_write(a_document(f"d{number}"), added=[f"text {number}"]))
            for number in range(20)
        )
    )

    revisions = [commit.revisions["acme"] for commit in committed if commit]
    changes = {change[0]: change[1:] for change in await rows.changes("acme")}
    assert sorted(revisions) == sorted(changes) == list(range(1, 21))
    for number, made in enumerate(revisions):
        stored = await documents.stored("acme", f"d{number}")
        assert stored is not None
        assert changes[made] == (list(stored.chunk_ids), [], [])


async def test_writers_of_the_same_new_sources_take_them_in_one_order(
    documents: DocumentStore, connection: "asyncpg.Connection[asyncpg.Record]"
) -> None:
    writes = [a_write(a_document(source, source=source), added=["a"]) for source in ("b", "a")]

    async with connection.transaction():  # another writer, who has come as far as source a
        await connection.execute(_ADD_SOURCE, "a")
        writing = asyncio.create_task(documents.apply_all("acme", writes))
        async with asyncio.timeout(60):
            while not await connection.fetchval(_SOMEBODY_WAITS):
                await asyncio.sleep(0.005)
        await connection.execute(_ADD_SOURCE, "b")

    assert [revisions_of(one) for one in await writing] == [{"acme": 1}] * 2


_SOMEBODY_WAITS = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"
_ADD_SOURCE = "INSERT INTO sources (tenant, source) VALUES ('acme', $1) ON CONFLICT DO NOTHING"


@pytest.mark.slow
async def test_writers_of_public_documents_in_two_tenants_do_not_wait_for_each_other_forever(
    documents: DocumentStore, rows: Rows
) -> None:
    def document(number: int) -> Document:
        return a_document(f"d{number}", source=f"s{number % 3}", readers=("public",))

    await asyncio.gather(
        *(
            apply(documents, ("acme", "beta")[number % 2], a_write(document(number), added=["a"]))
            for number in range(40)
        )
    )

    for tenant, count in (("acme", 20), ("beta", 20), ("public", 40)):
        assert [change[0] for change in await rows.changes(tenant)] == list(range(1, count + 1))
