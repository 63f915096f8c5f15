"""Writing into the index, as a share of what a bare COPY of the same rows can do.

Both write the same documents, texts and chunks into tables with the same indexes, in turns. What
only the index does is part of its time: locks, versions, foreign keys, counters, the change row.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import median

import asyncpg
from pgvector.asyncpg import register_vector

from index.database import connect
from index.documents import Documents, Write
from index.tenants import Tenants
from loadtests.bench_index import corpus
from loadtests.bench_index.corpus import Made, Passages, Rows

_TENANT = "written"
_BARE = {
    "documents": "documents",
    "texts": "texts",
    "chunks": "chunks_0",
    "chunk_texts": "chunk_texts",
}
BAR = 0.5


@dataclass(frozen=True, slots=True)
class Ingestion:
    """Chunks a second, medians of the rounds; `share` is the median of the rounds' ratios."""

    index_per_s: float
    copy_per_s: float
    share: float


async def measure(url: str, source: Passages, *, rounds: int, chunks: int, seed: int) -> Ingestion:
    """chunks: of each round."""
    bare = await asyncpg.connect(url)
    await register_vector(bare)
    for name, like in _BARE.items():
        await bare.execute(f"DROP TABLE IF EXISTS bare_{name}")
        await bare.execute(f"CREATE TABLE bare_{name} (LIKE {like} INCLUDING ALL)")
    rows, random = Rows(source, seed), Random(seed)  # noqa: S311  the same rows every time
    times: list[tuple[float, float]] = []
    async with connect(
        url, connections_max=2, statement_timeout_s=600, observe=lambda _name, _seconds: None
    ) as database:
        await Tenants(database).create(_TENANT, _TENANT)
        documents = Documents(database)
        for number in range(rounds + 1):
            batches = [
                [rows.write(made) for made in batch]
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


def _made(number: int, chunks: int, source: Passages, random: Random) -> list[Made]:
    return [
        Made(
            tenant=_TENANT,
            document_id=f"{number}-{place}",
            readers=("tenant",),
            tags=("bench",),
            passages=tuple(random.choices(range(len(source.texts)), k=size)),
        )
        for place, size in enumerate(corpus.cut(chunks, random))
    ]


async def _copied(
    connection: "asyncpg.Connection[asyncpg.Record]", batches: Sequence[Sequence[Write]], after: int
) -> float:
    """Seconds that COPY takes for the rows of these batches, in transactions of the same size."""
    seconds, chunk_id, key = 0.0, after, after
    for batch in batches:
        tables: dict[str, tuple[list[str], list[tuple[object, ...]]]] = {
            "documents": (_DOCUMENT, []),
            "texts": (["document_key", "text"], []),
            "chunks": (_CHUNK, []),
            "chunk_texts": (_CHUNK_TEXT, []),
        }
        for write in batch:
            key += 1
            document = write.document
            tables["documents"][1].append(
                (
                    key,
                    _TENANT,
                    document.document_id,
                    document.source,
                    document.title,
                    document.uri,
                    document.language,
                    document.tags,
                    "{}",
                    None,
                    document.readers,
                    len(write.added),
                )
            )
            tables["texts"][1].append((key, document.text))
            for new in write.added:
                chunk_id += 1
                tables["chunks"][1].append((0, chunk_id, _TENANT, key, new.dense, new.lexical))
                tables["chunk_texts"][1].append(
                    (chunk_id, key, new.digest, new.start, new.end, new.text)
                )
        started_s = time.perf_counter()
        async with connection.transaction():
            for name, (columns, records) in tables.items():
                await connection.copy_records_to_table(
                    f"bare_{name}", records=records, columns=columns
                )
        seconds += time.perf_counter() - started_s
    return seconds


_DOCUMENT = [
    "document_key",
    "tenant",
    "document_id",
    "source",
    "title",
    "uri",
    "language",
    "tags",
    "metadata",
    "owner",
    "readers",
    "chunks",
]
_CHUNK = ["shelf", "chunk_id", "tenant", "document_key", "dense", "lexical"]
_CHUNK_TEXT = ["chunk_id", "document_key", "digest", "start_at", "end_at", "text"]
