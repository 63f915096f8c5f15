"""Writing by Nearhit's own stores, as a share of what a bare COPY of the same rows can do.

Both write the same documents, texts and chunks into tables with the same indexes, in turn. The time
of the index includes what only it does: locks, versions, foreign keys, counters, the change row.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from random import Random
from statistics import median

import asyncpg
from pgvector.asyncpg import register_vector

from index.documents.document_store import DocumentStore
from index.documents.document_writes import DocumentWrite
from index.tenants.tenant_store import TenantStore
from loadtests.bench.section import Bar, Section, table
from loadtests.bench_index import corpus
from loadtests.bench_index.corpus import ChunkRows, Passages, PlannedDocument
from loadtests.bench_index.options import IndexRun
from loadtests.servers import service

_TENANT = "written"
_BARE = {
    "documents": "documents",
    "texts": "document_texts",
    "chunks": "chunks_0",
    "chunk_texts": "chunk_texts",
}
_TABLES = {
    "chunks_0": "what the exact pass reads: tenant, document, both vectors",
    "chunk_texts": "what only hits show: text, offsets, digest",
    "documents": "readers, filter columns, title; read by the pass once a document",
    "document_texts": "whole documents",
    "vocabulary": "the tenant's words, for typos",
}
_HOW = (
    "Batches of some 500 chunks of 256 dimensions, documents of 1 to 12 chunks, planned and "
    "embedded beforehand. The index's time includes what only it does: locks, versions, foreign"
    " keys, the vocabulary, counters and the change row. COPY writes the same documents, texts "
    "and chunks into tables with the same indexes. In turns, medians."
)
_KEPT = (
    "What a chunk then costs on disk, indexes included, and in PostgreSQL's cache, which holds "
    "what is read: a search by its exact pass reads `chunks_0` and `documents`, and of "
    "`chunk_texts` only the rows of its hits. By the writer each digest's vector is "
    "kept once more, in `embeddings`, so that it is never paid for twice."
)
_PASSAGES, _CHUNKS, _SEED = 5_000, 4_000, 1
BAR = 0.5


@dataclass(frozen=True, slots=True)
class Ingestion:
    """Chunks a second, medians of the rounds; `share` is the median of the rounds' ratios."""

    index_per_s: float
    copy_per_s: float
    share: float


def measure(run: IndexRun) -> Section:
    with service.nearhit() as gateway:
        measured, bytes_per_chunk = asyncio.run(_measured(gateway.database_url, run))
    rows = [
        ("index", f"{measured.index_per_s:,.0f}"),
        ("bare COPY", f"{measured.copy_per_s:,.0f}"),
    ]
    kept = [(f"`{name}`", what, f"{bytes_per_chunk[name]:,.0f}") for name, what in _TABLES.items()]
    tables = table(("", "chunks/s"), rows), table(("table", "what it holds", "bytes a chunk"), kept)
    return Section(
        title="Ingestion into the index",
        text=f"{_HOW}\n\n{tables[0]}\n\n{_KEPT}\n\n{tables[1]}",
        figures={"per_second": asdict(measured), "bytes_per_chunk": bytes_per_chunk},
        bars=[Bar("share of bare COPY's chunks a second", measured.share, at_least=BAR)],
    )


async def _measured(url: str, run: IndexRun) -> tuple[Ingestion, dict[str, float]]:
    source = await corpus.passages(run.data, _PASSAGES, _SEED)
    with run.console.status("ingestion"):
        written = await _write(url, source, rounds=run.options.rounds, chunks=_CHUNKS, seed=_SEED)
    return written, await _kept(url)


async def _kept(url: str) -> dict[str, float]:
    """Bytes a chunk, indexes included, by what keeps them."""
    connection = await asyncpg.connect(url)
    await connection.execute("VACUUM ANALYZE")
    chunks = await connection.fetchval("SELECT count(*) FROM chunks")
    bytes_per_chunk = {
        table: await connection.fetchval("SELECT pg_total_relation_size($1::regclass)", table)
        for table in _TABLES
    }
    await connection.close()
    return {table: size / chunks for table, size in bytes_per_chunk.items()}


async def _write(url: str, source: Passages, *, rounds: int, chunks: int, seed: int) -> Ingestion:
    """chunks: of each round."""
    bare = await asyncpg.connect(url)
    await register_vector(bare)
    for name, like in _BARE.items():
        await bare.execute(f"DROP TABLE IF EXISTS bare_{name}")
        await bare.execute(f"CREATE TABLE bare_{name} (LIKE {like} INCLUDING ALL)")
    rows, random = ChunkRows(source, seed), Random(seed)  # noqa: S311  the same rows every time
    times: list[tuple[float, float]] = []
    async with corpus.opened(url) as database:
        await TenantStore(database).create(_TENANT, _TENANT)
        documents = DocumentStore(database)
        for number in range(rounds + 1):
            batches = [
                [rows.write(document) for document in batch]
                for batch in corpus.batches(_made(number, chunks, source, random))
            ]
            copied = await _copied(bare, batches, number * chunks)
            started_s = time.perf_counter()
            for batch in batches:
                await corpus.store(documents, _TENANT, batch)
            if number:  # the first round warms up
                times.append((time.perf_counter() - started_s, copied))
    await bare.close()
    return Ingestion(
        index_per_s=chunks / median(ours for ours, _ in times),
        copy_per_s=chunks / median(copied for _, copied in times),
        share=median(copied / ours for ours, copied in times),
    )


def _made(number: int, chunks: int, source: Passages, random: Random) -> list[PlannedDocument]:
    return [
        PlannedDocument(
            tenant=_TENANT,
            document_id=f"{number}-{number_in_round}",
            readers=("tenant",),
            tags=("bench",),
            passages=tuple(random.choices(range(len(source.texts)), k=size)),
        )
        for number_in_round, size in enumerate(corpus.cut(chunks, random))
    ]


async def _copied(
    connection: "asyncpg.Connection[asyncpg.Record]",
    batches: Sequence[Sequence[DocumentWrite]],
    after: int,
) -> float:
    """Seconds that COPY takes for the rows of these batches, in transactions of the same size."""
    seconds, chunk_id, key = 0.0, after, after
    for batch in batches:
        rows: dict[str, list[dict[str, object]]] = defaultdict(list)
        for write in batch:
            key += 1
            document = write.document
            rows["documents"].append(
                {
                    "document_key": key,
                    "tenant": _TENANT,
                    "document_id": document.document_id,
                    "source": document.source,
                    "title": document.title,
                    "uri": document.uri,
                    "language": document.language,
                    "tags": document.tags,
                    "metadata": "{}",
                    "owner": None,
                    "readers": document.readers,
                    "allowed_tokens": document.readers,  # there is no owner
                    "audience_key": 1,  # of all documents: they have the same readers
                    "chunks": len(write.added),
                }
            )
            rows["texts"].append({"document_key": key, "text": document.text})
            for new in write.added:
                chunk_id += 1
                row = {"chunk_id": chunk_id, "document_key": key}
                vectors = {"dense": new.dense, "lexical": new.lexical}
                rows["chunks"].append({**row, "partition_no": 0, "tenant": _TENANT, **vectors})
                text = {"digest": new.digest, "start_at": new.start, "end_at": new.end}
                rows["chunk_texts"].append({**row, **text, "text": new.text})
        tables = [
            (name, list(records[0]), [tuple(record.values()) for record in records])
            for name, records in rows.items()
        ]
        started_s = time.perf_counter()
        async with connection.transaction():
            for name, columns, records in tables:
                await connection.copy_records_to_table(
                    f"bare_{name}", records=records, columns=columns
                )
        seconds += time.perf_counter() - started_s
    return seconds
