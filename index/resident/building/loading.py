"""Builds shards: from all of a partition's chunks in one snapshot, or from a change."""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.invalidation.changes import CHANGED_CHUNKS_MAX, CHANGES_MAX
from index.model.scope import PUBLIC
from index.postgres.database import Database
from index.postgres.session import Row, Session
from index.resident import chunk_records, exact_scores, segment, term_postings
from index.resident.building import freed_memory, loading_words
from index.resident.chunk_records import ChunkRecords
from index.resident.exact_scores import SumOrder
from index.resident.labels import Audiences, Labels
from index.resident.segment import ShardSegment
from index.resident.shard import ChunkLabels, PartitionStats, Shard
from index.vocabulary.resident_words import ResidentWords

_PAGE_DOCUMENTS = 500  # read at a time; the event loop decodes them in about 3 ms
_SPARSE_HEADER_BYTES = 12  # dimensions, count and an unused word, each of 4 bytes
_HALF_HEADER_BYTES = 4  # dimensions and an unused half word


class Unsuitable(Exception):
    """The partition can't be a shard.

    Its vectors have several spaces, or one has no direction, or the server adds scores in an order
    that is not known here.
    """


@dataclass(frozen=True, slots=True)
class _Terms:
    """The terms of chunks, one after the other. counts: how many each chunk has."""

    counts: NDArray[np.int64]
    terms: NDArray[np.int32]
    values: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """Documents, and all their chunks or those that have changed.

    chunks: `chunk_columns` of `resident.sql`.
    """

    documents: Sequence[Row]
    chunks: Row

    def segment(self, labels: ChunkLabels) -> ShardSegment:
        """Raises `Unsuitable`."""
        return from_rows(labels, self.documents, self.chunks)


@dataclass(frozen=True, slots=True, eq=False)
class ShardChanges:
    """The effect of a partition's changes up to `revision`, as of that revision.

    space:    of the added and updated chunks; None without any.
    stats:    of the partition.
    outdated: ids of removed or updated chunks.
    segment:  the added and updated chunks; None without any.
    words:    see `Shard`.
    """

    history: str
    revision: int
    space: str | None
    stats: PartitionStats
    outdated: NDArray[np.int64]
    segment: ShardSegment | None
    words: ResidentWords | None


def new_labels() -> ChunkLabels:
    return ChunkLabels(Audiences(), Labels(), Labels(), Labels(), Labels(), Labels())


async def load(database: Database, partition: str, *, chunks_max: int) -> Shard | None:
    """The partition as it is now; None if it has more chunks or is gone.

    Raises `DatabaseUnavailable` and `Unsuitable`.
    """
    async with database.shard_snapshot() as session:
        head = await session.row("resident.partition", partition)
        if head is None or head["chunks"] > chunks_max:
            return None
        sums = await exact_scores.probe(session)
        if sums is None:
            raise Unsuitable("the server adds scores in an unknown order")
        pages = [page async for page in read_pages(session, partition)]
        words = await loading_words.read(session, partition, head)
    shard = await asyncio.to_thread(_build, partition, head, pages, words, sums)
    pages.clear()
    await asyncio.to_thread(freed_memory.give_back)
    return shard


async def read_pages(session: Session, partition: str) -> AsyncIterator[DocumentPage]:
    """All documents of the partition, some at a time."""
    statement = "public" if partition == PUBLIC else "tenant"
    arguments = () if partition == PUBLIC else (partition,)
    batches = session.batches(f"resident.{statement}_documents", *arguments, size=_PAGE_DOCUMENTS)
    async for documents in batches:
        partitions = list({row["partition_no"] for row in documents})
        keys = [row["document_key"] for row in documents]
        chunks = await session.row("resident.chunks", partitions, keys)
        assert chunks is not None, "an aggregate always has a row"
        if chunks["chunks"]:
            yield DocumentPage(documents, chunks)


async def read_sums(database: Database) -> SumOrder | None:
    """How the server adds; None if it is not known here. Raises `DatabaseUnavailable`."""
    async with database.shard_snapshot() as session:
        return await exact_scores.probe(session)


async def read_changes(database: Database, shard: Shard) -> ShardChanges | None:
    """The changes after the shard's revision; None if it has to be loaded again.

    So it is if a change is no longer stored, if they are too many, or if a shard can't hold one.
    Raises `DatabaseUnavailable`.
    """
    rows = await database.shard_rows("resident.changes", *_changes_arguments(shard))
    head = _whole_head(rows)
    if head is None:
        return None
    words = shard.words
    if words is not None and loading_words.has_grown(words, head):  # a snapshot has to tell of both
        async with database.shard_snapshot() as session:
            return await changes_in(session, shard)
    return _to_changes(shard, rows, head, words)


async def changes_in(session: Session, shard: Shard) -> ShardChanges | None:
    """`read_changes` in the snapshot of the session."""
    rows = await session.rows("resident.changes", *_changes_arguments(shard))
    head = _whole_head(rows)
    if head is None:
        return None
    words = shard.words
    if words is not None and loading_words.has_grown(words, head):
        words = await loading_words.read_learned(session, shard.partition, words, head)
    return _to_changes(shard, rows, head, words)


def _changes_arguments(shard: Shard) -> tuple[str, int, int, int]:
    return shard.partition, shard.revision, CHANGES_MAX, CHANGED_CHUNKS_MAX


def _whole_head(rows: Sequence[Row]) -> Row | None:
    """The first row; None unless it has all changes."""
    head = next((row for row in rows if row["revision"] is not None), None)
    return head if head is not None and head["is_whole"] else None


def _to_changes(
    shard: Shard, rows: Sequence[Row], head: Row, words: ResidentWords | None
) -> ShardChanges | None:
    """None if a shard can't hold them."""
    documents = [row for row in rows if row["document_key"] is not None]
    page = DocumentPage(documents, head) if head["chunks"] else None
    try:
        return ShardChanges(
            history=head["history"],
            revision=head["revision"],
            space=_space(documents),
            stats=_stats(head),
            outdated=_ids(head["outdated"] or b""),
            segment=None if page is None else page.segment(shard.labels),
            words=words,
        )
    except Unsuitable:
        return None


def _build(
    partition: str,
    head: Row,
    pages: Sequence[DocumentPage],
    words: ResidentWords | None,
    sums: SumOrder,
) -> Shard:
    """The shard of what was read in one snapshot; takes long. Raises `Unsuitable`."""
    space = _space([row for page in pages for row in page.documents])
    labels = new_labels()
    segments = [page.segment(labels) for page in pages]
    live = [np.ones(len(each), np.bool_) for each in segments]
    merged = segment.merge(segments, live) if segments else None
    return Shard(
        partition=partition,
        history=head["history"],
        revision=head["revision"],
        space=space,
        stats=_stats(head),
        sums=sums,
        labels=labels,
        words=words,
        segments=() if merged is None else (merged,),
        live=() if merged is None else (np.ones(len(merged), np.bool_),),
    )


def _space(documents: Sequence[Row]) -> str | None:
    """The embedding space of the documents' vectors. Raises `Unsuitable` if they have several."""
    spaces = {row["embedding_space"] for row in documents}
    if len(spaces) > 1:
        raise Unsuitable(f"vectors of {len(spaces)} embedding spaces")
    return next(iter(spaces), None)


def _stats(head: Row) -> PartitionStats:
    languages = frozenset(head["languages"] or ())
    vocabulary_size, confidence = head["vocabulary_size"], head["confidence"]
    return PartitionStats(
        head["partition_space"], languages, vocabulary_size, confidence, head["audience_revision"]
    )


def from_rows(labels: ChunkLabels, documents: Sequence[Row], chunks: Row) -> ShardSegment:
    """A segment of chunks of these documents.

    chunks: `chunk_columns` of `resident.sql`.
    Raises `Unsuitable`.
    """
    codes = np.array([[*_document_codes(labels, row)] for row in documents], np.int32)
    keys = np.array([row["document_key"] for row in documents], np.int64)
    by_key = np.argsort(keys)
    chunk_keys = _ids(chunks["document_keys"])
    of_document = by_key[np.searchsorted(keys, chunk_keys, sorter=by_key)]
    return _segment(
        ids=_ids(chunks["ids"]),
        document_keys=chunk_keys,
        dense=_halves(chunks["dense"], chunks["chunks"]),
        terms=_terms(chunks["lexical"], chunks["lexical_lengths"]),
        codes=codes[of_document],
        records=chunk_records.of_bytes(chunks["records"], _lengths(chunks["record_lengths"])),
    )


def _document_codes(labels: ChunkLabels, row: Row) -> Iterator[int]:
    yield from _codes(
        labels,
        (row["owner"], row["readers"]),
        (row["source"], row["language"], row["tags"]),
        (row["document_id"], row["tenant"]),
    )


def _codes(
    labels: ChunkLabels,
    access: tuple[str | None, Collection[str]],
    described: tuple[str, str, Collection[str]],
    named: tuple[str, str],
) -> tuple[int, ...]:
    """The codes of a document, in the order of `ShardSegment.labels`."""
    (owner, readers), (source, language, tags), (document_id, tenant) = access, described, named
    tokens = {*readers} if owner is None else {*readers, f"owner:{owner}"}
    return (
        labels.audiences.code(tuple(sorted(tokens))),
        labels.sources.code(source),
        labels.languages.code(language),
        labels.tags.code(tuple(sorted(tags))),
        labels.documents.code(document_id),
        labels.tenants.code(tenant),
    )


def _segment(
    *,
    ids: NDArray[np.int64],
    document_keys: NDArray[np.int64],
    dense: NDArray[np.float16],
    terms: _Terms,
    codes: NDArray[np.int32],
    records: ChunkRecords,
) -> ShardSegment:
    norms = np.sqrt(np.square(dense.astype(np.float32)).sum(axis=1))
    if not np.isfinite(norms).all():
        raise Unsuitable("a vector is not finite")
    rows = np.repeat(np.arange(len(ids), dtype=np.int32), terms.counts)
    return ShardSegment(
        ids=ids,
        document_keys=document_keys,
        dense=dense,
        inverse_norms=np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0),
        postings=term_postings.build(terms.terms, rows, terms.values, len(ids)),
        labels=np.ascontiguousarray(codes.T),
        records=records,
    )


def _ids(sent: bytes) -> NDArray[np.int64]:
    """The numbers of `int8send`, one after the other."""
    return np.frombuffer(sent, ">i8").astype(np.int64)


def _lengths(sent: bytes) -> NDArray[np.int64]:
    """The numbers of `int4send`, one after the other."""
    return np.frombuffer(sent, ">i4").astype(np.int64)


def _halves(sent: bytes, count: int) -> NDArray[np.float16]:
    """The vectors of `halfvec_send`, one after the other. Raises `Unsuitable`."""
    if len(sent) % count:
        raise Unsuitable("vectors have several dimensions")
    rows = np.frombuffer(sent, np.uint8).reshape(count, -1)
    widths = rows[:, :_HALF_HEADER_BYTES]
    if (widths != widths[0]).any():
        raise Unsuitable("vectors have several dimensions")
    return np.ascontiguousarray(rows[:, _HALF_HEADER_BYTES:]).view(">f2").astype(np.float16)


def _terms(sent: bytes, lengths: bytes) -> _Terms:
    """The vectors of `sparsevec_send`, one after the other: a header, the terms, the values."""
    sizes = _lengths(lengths)
    counts = (sizes - _SPARSE_HEADER_BYTES) // 8
    words = np.frombuffer(sent, ">i4")
    first = (np.cumsum(sizes) - sizes + _SPARSE_HEADER_BYTES) // 4
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    places = np.repeat(first, counts) + within
    values = words[places + np.repeat(counts, counts)].astype(np.int32).view(np.float32)
    return _Terms(counts, words[places].astype(np.int32), values)
