"""Any number of chunks of real passages, written past HTTP by Nearhit's own stores.

With more chunks than passages, a repeated passage has a slightly rotated vector, so that distances
between neighbours are as in real collections.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector, SparseVector

from index.documents.chunk_store import AddedChunk
from index.documents.document_store import DocumentStore
from index.documents.document_writes import DocumentWrite
from index.documents.partitions import Partitions
from index.embedders.static_embedder import StaticEmbedder
from index.model.document import Document
from index.postgres.database import Database, announce_to_nobody, connect
from index.tenants.tenant_store import TenantStore
from index.text import lexical, spelling
from loadtests.workload import json_lines

_SETS = ("medquad_en", "squad_sent_dev", "scifact")
_TURN = 0.03  # standard deviation of each component: cosines of about 0.9 between copies
_DOCUMENT_CHUNKS = (1, 2, 3, 5, 8, 12)
_BATCH_CHUNKS = 500
_TEXT_CHARACTERS_MAX = 1_500


@dataclass(frozen=True, slots=True)
class Passages:
    """Texts with their unit vectors, shape (texts, 256), their lexical ones, and their words."""

    texts: Sequence[str]
    dense: NDArray[np.float32]
    lexical: Sequence[Mapping[int, float]]
    words: Sequence[frozenset[str]]


@dataclass(frozen=True, slots=True)
class PlannedDocument:
    """A document to write: whose it is, who reads it, and which passages its chunks are."""

    tenant: str
    document_id: str
    readers: tuple[str, ...]
    tags: tuple[str, ...]
    passages: tuple[int, ...]
    owner: str | None = None


async def passages(data: Path, count: int, seed: int) -> Passages:
    texts = [
        f"{passage['title']}\n{passage['text']}"[:_TEXT_CHARACTERS_MAX]
        for name in _SETS
        for passage in json_lines.read(data / name / "corpus.jsonl.gz")
    ]
    Random(seed).shuffle(texts)  # noqa: S311  the same choice every time
    return await understood(texts[:count])


async def understood(texts: Sequence[str]) -> Passages:
    return Passages(
        texts,
        await StaticEmbedder().embed_passages(texts),
        [lexical.chunk(text, "en") for text in texts],
        [spelling.vocabulary_words([text]) for text in texts],
    )


def questions(data: Path, count: int, seed: int) -> list[str]:
    files = [data / name / "queries.jsonl.gz" for name in _SETS]
    texts = [line["text"] for file in files for line in json_lines.read(file)]
    return Random(seed).sample(texts, count)  # noqa: S311  the same choice every time


def cut(total: int, random: Random) -> Iterator[int]:
    """Numbers of chunks a document, together `total`."""
    left = total
    while left:
        size = min(left, random.choice(_DOCUMENT_CHUNKS))
        left -= size
        yield size


def turned(vector: NDArray[np.float32], generator: np.random.Generator) -> NDArray[np.float32]:
    moved = vector + generator.normal(0, _TURN, vector.shape).astype(np.float32)
    unit: NDArray[np.float32] = moved / np.linalg.norm(moved)
    return unit


def batches(planned: Iterable[PlannedDocument]) -> Iterator[list[PlannedDocument]]:
    """Documents of one tenant at a time, some hundred chunks together."""
    batch: list[PlannedDocument] = []
    for document in planned:
        is_full = sum(len(member.passages) for member in batch) >= _BATCH_CHUNKS
        if batch and (is_full or document.tenant != batch[0].tenant):
            yield batch
            batch = []
        batch.append(document)
    if batch:
        yield batch


class ChunkRows:
    """What documents become in the index.

    held: by digest, each chunk's vector as the index keeps it, and its passage.
    """

    def __init__(self, source: Passages, seed: int) -> None:
        self.source = source
        self._words = [SparseVector(dict(words), lexical.DIMENSION) for words in source.lexical]
        self.held: dict[bytes, tuple[NDArray[np.float16], int]] = {}
        self._generator = np.random.default_rng(seed)
        self._serial = 0

    def write(
        self, planned: PlannedDocument, *, version: int = 0, removed: Sequence[int] = ()
    ) -> DocumentWrite:
        return DocumentWrite(
            document=Document(
                document_id=planned.document_id,
                title=f"Document {planned.document_id}",
                text="\n\n".join(self.source.texts[passage] for passage in planned.passages),
                source="bench",
                uri="",
                language="en",
                tags=planned.tags,
                metadata={},
                owner=planned.owner,
                readers=planned.readers,
            ),
            version=version,
            added=[self._chunk(passage) for passage in planned.passages],
            kept=[],
            removed=removed,
            space=StaticEmbedder.space,
            words=frozenset().union(*(self.source.words[passage] for passage in planned.passages)),
        )

    def _chunk(self, passage: int) -> AddedChunk:
        self._serial += 1
        digest = blake2b(self._serial.to_bytes(8, "big"), digest_size=16).digest()
        vector = turned(self.source.dense[passage], self._generator)
        self.held[digest] = vector.astype(np.float16), passage
        return AddedChunk(
            digest=digest,
            start=0,
            end=len(self.source.texts[passage]),
            text=self.source.texts[passage],
            dense=HalfVector(vector),
            lexical=self._words[passage],
        )


async def store(documents: DocumentStore, tenant: str, writes: Sequence[DocumentWrite]) -> None:
    committed = await documents.apply_all(tenant, writes)
    assert None not in committed, "nobody else writes"


def opened(url: str) -> AbstractAsyncContextManager[Database]:
    """The index's own access to a database."""
    return connect(
        url,
        connections_max=3,
        statement_timeout_s=3_600,
        observe=lambda _name, _seconds: None,
        announce=announce_to_nobody,
    )


async def fill(url: str, source: Passages, tenants: Mapping[str, int], *, seed: int) -> None:
    """New tenants with so many chunks each, half for the tenant, half for the group `readers`.

    Past the writer: texts are embedded already, and nothing is planned or invalidated.
    """
    async with opened(url) as database:
        rows, random = ChunkRows(source, seed), Random(seed)  # noqa: S311  the same rows every time
        for tenant, chunks in tenants.items():
            await TenantStore(database).create(tenant, tenant)
            for batch in batches(_made(tenant, chunks, len(source.texts), random)):
                await store(DocumentStore(database), tenant, list(map(rows.write, batch)))
                rows.held.clear()
        async for _ in Partitions(database).maintain():
            pass


def _made(tenant: str, chunks: int, passages: int, random: Random) -> Iterator[PlannedDocument]:
    for number, size in enumerate(cut(chunks, random)):
        yield PlannedDocument(
            tenant=tenant,
            document_id=f"d{number}",
            readers=(random.choice(("tenant", "group:readers")),),
            tags=("bench",),
            passages=tuple(random.choices(range(passages), k=size)),
        )
