"""Several documents in one commit: one revision, one change, all of them or none."""

import asyncio
from dataclasses import replace

import asyncpg
import pytest
from pgvector import SparseVector

from index.documents.chunk_store import KeptChunk
from index.documents.document_store import DocumentStore
from index.documents.document_writes import DocumentWrite
from index.tenants.tenant_store import TenantStore
from index.text.lexical import DIMENSION
from tests.index.support.commits import (
    Rows,
    a_chunk,
    a_write,
    digest,
    revision,
    revisions_of,
    written,
)
from tests.index.support.samples import a_document

pytestmark = pytest.mark.anyio


async def test_several_documents_are_one_revision_and_one_change(
    documents: DocumentStore, rows: Rows
) -> None:
    kept_of = await written(documents, a_document("kept"), "a", "b")
    a, b = kept_of.chunk_ids
    writes = [
        a_write(a_document("new"), added=["c", "d"]),
        a_write(
            a_document("kept"),
            version=kept_of.version,
            added=["e"],
            kept=[KeptChunk(a, digest("a"), 0, 1, "a", None)],
            removed=[b],
        ),
        a_write(a_document("empty")),
    ]

    committed = await documents.apply_all("acme", writes)

    assert [revisions_of(one) for one in committed] == [{"acme": 2}] * 3
    new, kept = await documents.stored("acme", "new"), await documents.stored("acme", "kept")
    assert new is not None
    assert kept is not None
    (e,) = set(kept.chunk_ids) - {a}
    assert new.digests == (digest("c"), digest("d"))
    assert (await rows.changes("acme"))[1:] == [(2, [*new.chunk_ids, e], [b], [a])]
    assert await documents.stored("acme", "empty") is not None


async def test_of_several_documents_only_the_public_ones_are_in_the_public_change(
    documents: DocumentStore, rows: Rows
) -> None:
    writes = [
        a_write(a_document("ours"), added=["a"]),
        a_write(a_document("all", readers=("public",)), added=["b"]),
    ]

    committed = await documents.apply_all("acme", writes)

    shared = await documents.stored("acme", "all")
    assert shared is not None
    assert [revisions_of(one) for one in committed] == [{"acme": 1, "public": 1}] * 2
    assert await rows.changes("public") == [(1, list(shared.chunk_ids), [], [])]


async def test_a_commit_of_several_documents_that_all_have_changed_since_makes_no_revision(
    documents: DocumentStore, tenants: TenantStore
) -> None:
    writes = [a_write(a_document(f"d{number}"), version=7, added=["a"]) for number in range(3)]

    assert await documents.apply_all("acme", writes) == [None] * 3
    assert await revision(tenants, "acme") == 0


async def test_several_documents_are_committed_together_or_not_at_all(
    documents: DocumentStore, rows: Rows, tenants: TenantStore
) -> None:
    broken = replace(a_chunk("b"), lexical=SparseVector({1: float("nan")}, DIMENSION))
    writes = [
        a_write(a_document("first"), added=["a"]),
        DocumentWrite(a_document("second"), 0, [broken], [], []),
    ]

    with pytest.raises(asyncpg.DataError):
        await documents.apply_all("acme", writes)

    for table in ("documents", "document_texts", "chunks", "chunk_texts", "sources", "change_log"):
        assert await rows.count(table) == 0
    assert await revision(tenants, "acme") == 0


async def test_writers_of_the_same_documents_in_other_orders_do_not_wait_for_each_other_forever(
    documents: DocumentStore, rows: Rows
) -> None:
    names = [f"d{number}" for number in range(20)]
    orders = [names, names[::-1], names[10:] + names[:10]]

    outcomes = await asyncio.gather(
        *(
            documents.apply_all("acme", [a_write(a_document(name), added=["a"]) for name in order])
            for order in orders
        )
    )

    assert sorted(outcome.count(None) for outcome in outcomes) == [0, 20, 20]
    assert await rows.count("documents") == await rows.count("chunks") == 20
