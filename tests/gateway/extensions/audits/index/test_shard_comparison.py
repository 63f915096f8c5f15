"""A shard that differs from the tables in a single chunk is found, whatever is asked."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gateway.extensions.audits import shard_comparison
from gateway.extensions.audits.shard_comparison import ShardDifferences
from index.documents.document_store import DocumentStore
from index.model.document import Document
from index.model.query import Query
from index.model.scope import everything
from index.postgres.database import Database
from index.postgres.functions.function_roles import Connection
from index.resident.building import loading
from index.resident.segment import ShardSegment
from index.resident.shard import Shard
from index.tenants.tenant_store import TenantStore
from ingest.write.writer import Writer
from tests.index.support.residence import Residence, residence
from tests.index.support.samples import PLAIN, RecordingEmbedder, a_document, put

pytestmark = pytest.mark.anyio

SCOPE = everything("acme", "ana", [], receives_public=True)
DOCUMENTS = 7
NONE = ShardDifferences(0, 0, 0)


@pytest.fixture
async def resident(
    database: Database,
    tenants: TenantStore,
    documents: DocumentStore,
    writer: Writer,
    embedder: RecordingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Residence]:
    """Shards of some documents, of which some have changed since."""
    monkeypatch.setattr(loading, "_PAGE_DOCUMENTS", 2)
    for number in range(DOCUMENTS):
        readers = ("public",) if number % 2 else ("tenant",)
        await put(writer, a_document(f"d{number}", f"Item {number} of the list.", readers=readers))
    async with residence(database, embedder) as opened:
        await opened.load(SCOPE)
        await put(writer, a_document("d1", "Another item.", readers=("public",)))
        await writer.remove("acme", "d2", lambda document: document)
        await opened.searcher.search(SCOPE, Query("item"))
        yield opened


def newest(resident: Residence, partition: str = "acme") -> Shard:
    return resident.shards.versions()[partition]


@pytest.mark.sampled("acme")
@pytest.mark.parametrize("partition", ["acme", "public"])
async def test_a_shard_that_has_followed_changes_equals_the_tables(
    resident: Residence, database: Database, partition: str
) -> None:
    shard = newest(resident, partition)
    assert len(shard.segments) > 1

    assert await shard_comparison.compare(database, shard) == NONE
    assert await shard_comparison.compare(database, shard.compacted()) == NONE


async def test_a_shard_that_is_behind_is_compared_with_the_changes_since(
    resident: Residence, database: Database, writer: Writer
) -> None:
    before = newest(resident)
    await put(writer, a_document("new", "Something new."))
    await writer.remove("acme", "d4", lambda document: document)
    await writer.put_access("acme", "d6", shared)

    assert await shard_comparison.compare(database, before) == NONE


def shared(stored: Document | None) -> Document:
    return replace(stored or PLAIN, readers=("user:ben",))


@pytest.mark.thorough
async def test_a_shard_that_cannot_follow_is_not_compared(
    resident: Residence, database: Database, tenants: TenantStore, connection: Connection
) -> None:
    shard = newest(resident)
    await connection.execute("DELETE FROM change_log")
    assert await shard_comparison.compare(database, shard) == NONE
    behind = replace(shard, revision=shard.revision - 1)
    assert await shard_comparison.compare(database, behind) is None

    await tenants.begin_history()
    assert await shard_comparison.compare(database, shard) is None


def with_base(shard: Shard, change: Callable[[ShardSegment], ShardSegment]) -> Shard:
    """The shard with another oldest segment."""
    return replace(shard, segments=(change(shard.segments[0]), *shard.segments[1:]))


def with_live(shard: Shard, row: int, *, is_live: bool) -> Shard:
    live = shard.live[0].copy()
    assert live[row] != is_live
    live[row] = is_live
    return replace(shard, live=(live, *shard.live[1:]))


def changed(values: NDArray[Any], place: Any, value: Any) -> NDArray[Any]:
    copy = values.copy()
    assert copy[place] != value
    copy[place] = value
    return copy


def live_row(shard: Shard) -> int:
    return int(np.flatnonzero(shard.live[0])[0])


def drop_row(shard: Shard) -> Shard:
    return with_live(shard, live_row(shard), is_live=False)


def keep_deleted_row(shard: Shard) -> Shard:
    return with_live(shard, int(np.flatnonzero(~shard.live[0])[0]), is_live=True)


def hold_row_twice(shard: Shard) -> Shard:
    return replace(
        shard,
        segments=(*shard.segments, shard.segments[-1]),
        live=(*shard.live, shard.live[-1]),
    )


def change_label(kind: int) -> Callable[[Shard], Shard]:
    """Give a row the label of another value, which is in use or not."""

    def change(shard: Shard) -> Shard:
        row, labels = live_row(shard), shard.segments[0].labels
        other = labels[kind, row] + 1
        return with_base(
            shard, lambda base: replace(base, labels=changed(labels, (kind, row), other))
        )

    return change


def change_vector(shard: Shard) -> Shard:
    place = (live_row(shard), -1)
    return with_base(shard, lambda base: replace(base, dense=changed(base.dense, place, 0.5)))


def change_norm(shard: Shard) -> Shard:
    row = live_row(shard)
    return with_base(
        shard,
        lambda base: replace(
            base, inverse_norms=changed(base.inverse_norms, row, base.inverse_norms[row] * 1.001)
        ),
    )


def change_document(shard: Shard) -> Shard:
    row = live_row(shard)
    return with_base(
        shard, lambda base: replace(base, document_keys=changed(base.document_keys, row, -1))
    )


def change_weight(shard: Shard) -> Shard:
    postings = shard.segments[0].postings
    place = int(np.flatnonzero(postings.rows == live_row(shard))[0])
    weights = changed(postings.values, place, 9)
    return with_base(shard, lambda base: replace(base, postings=replace(postings, values=weights)))


DEFECTS: dict[str, tuple[Callable[[Shard], Shard], ShardDifferences]] = {
    "a chunk is left out": (drop_row, ShardDifferences(1, 0, 0)),
    "a deletion is forgotten": (keep_deleted_row, ShardDifferences(0, 1, 0)),
    "a chunk is there twice": (hold_row_twice, ShardDifferences(0, 1, 0)),
    "another audience": (change_label(0), ShardDifferences(0, 0, 1)),
    "another source": (change_label(1), ShardDifferences(0, 0, 1)),
    "another language": (change_label(2), ShardDifferences(0, 0, 1)),
    "other tags": (change_label(3), ShardDifferences(0, 0, 1)),
    "another document": (change_label(4), ShardDifferences(0, 0, 1)),
    "another tenant": (change_label(5), ShardDifferences(0, 0, 1)),
    "another document key": (change_document, ShardDifferences(0, 0, 1)),
    "another vector": (change_vector, ShardDifferences(0, 0, 1)),
    "another length of a vector": (change_norm, ShardDifferences(0, 0, 1)),
    "another weight of a term": (change_weight, ShardDifferences(0, 0, 1)),
}


@pytest.mark.sampled("public")
@pytest.mark.parametrize("partition", ["acme", "public"])
async def test_a_single_difference_is_found(
    resident: Residence, database: Database, partition: str
) -> None:
    shard = newest(resident, partition)

    for name, (change, expected) in DEFECTS.items():
        found = await shard_comparison.compare(database, change(shard))

        assert found == expected, name


async def test_of_another_space_each_chunk_differs(resident: Residence, database: Database) -> None:
    shard = newest(resident)
    chunks = sum(int(live.sum()) for live in shard.live)

    found = await shard_comparison.compare(database, replace(shard, space="another"))

    assert found == ShardDifferences(0, 0, chunks)


async def test_a_term_in_another_row_is_found(resident: Residence, database: Database) -> None:
    shard = newest(resident)
    postings = shard.segments[0].postings
    first, second = np.flatnonzero(shard.live[0])[:2]
    place = int(np.flatnonzero(postings.rows == first)[0])
    rows = changed(postings.rows, place, second)
    defective = with_base(shard, lambda base: replace(base, postings=replace(postings, rows=rows)))

    assert await shard_comparison.compare(database, defective) == ShardDifferences(0, 0, 2)


@pytest.mark.thorough
async def test_the_terms_of_many_chunks_are_hashed_a_part_at_a_time(
    resident: Residence, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_comparison, "_POSTINGS", 2)

    assert await shard_comparison.compare(database, newest(resident)) == NONE
