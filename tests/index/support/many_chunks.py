"""Thousands of chunks, quickly written, and limits by which they are looked through either way."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from random import Random

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector, SparseVector

from index.documents.chunk_store import AddedChunk
from index.documents.document_store import DocumentStore
from index.documents.document_writes import DocumentWrite
from index.embedders.hashing_embedder import HashingEmbedder
from index.search.tables.strategy import StrategyLimits
from index.text import lexical
from tests.index.support.samples import a_document

EMBEDDER = HashingEmbedder(32)
CHUNKS = 5  # of each document
_COMMIT_DOCUMENTS = 100
_CHUNK_WORDS = 25

# The first is in nearly every chunk, the last in one of forty.
_LINES = (
    "harbour leave travel sensor battery invoice refund pressure probe window garden "
    "bridge winter kitchen doctor engine village summer market church student family history "
    "island river mountain forest castle painter singer teacher hospital airport station "
    "lighthouse museum library theatre orchestra cathedral volcano telescope microscope"
)
WORDS = _LINES.split()
QUESTION = "lighthouse telescope harbour"

EXACT = StrategyLimits(crossover_chunks=10**9)
NEAREST = StrategyLimits(crossover_chunks=0)


async def settle(
    documents: DocumentStore,
    tenant: str,
    *,
    number: int,
    readers: Sequence[tuple[str, ...]],
    seed: int,
) -> None:
    """So many documents, of which each may be read by the next of the readers."""
    random = Random(seed)  # noqa: S311  the same crowd every time, and no secret
    for at in range(0, number, _COMMIT_DOCUMENTS):
        writes = [
            await _write(random, f"{tenant}{place}", readers[place % len(readers)])
            for place in range(at, min(at + _COMMIT_DOCUMENTS, number))
        ]
        assert None not in await documents.apply_all(tenant, writes)


async def _write(random: Random, document_id: str, readers: tuple[str, ...]) -> DocumentWrite:
    weights = [1 / rank for rank in range(1, len(WORDS) + 1)]
    texts = [" ".join(random.choices(WORDS, weights, k=_CHUNK_WORDS)) for _ in range(CHUNKS)]
    document = a_document(document_id, "\n".join(texts), owner=None, readers=readers)
    vectors = await EMBEDDER.embed_passages(texts)
    vectors += [[random.random() / 100 for _ in row] for row in vectors]  # so that none are equal
    return DocumentWrite(document, 0, list(_added(texts, vectors)), [], [])


def _added(texts: Sequence[str], vectors: NDArray[np.float32]) -> Iterator[AddedChunk]:
    start = 0
    for text, vector in zip(texts, vectors, strict=True):
        digest = blake2b(text.encode(), digest_size=16).digest()
        words = SparseVector(lexical.chunk(text, "en"), lexical.DIMENSION)
        yield AddedChunk(digest, start, start + len(text), text, HalfVector(vector), words)
        start += len(text) + 1
