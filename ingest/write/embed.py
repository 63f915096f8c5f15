"""Gets vectors for texts: the tenant's stored ones, and new ones for the rest."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from common.billing_context import bill_to
from index.documents.document_store import DocumentStore


class PassageEmbedder(Protocol):
    """Texts to unit vectors, one row each; zero for a text that can't be embedded.

    Raises `EmbeddingUnavailable`.
    """

    @property
    def space(self) -> str: ...
    @property
    def batch_texts_max(self) -> int: ...
    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


async def embed_missing(
    documents: DocumentStore,
    embedder: PassageEmbedder,
    tenant: str,
    texts: Mapping[bytes, str],
    known: Mapping[bytes, HalfVector],
) -> tuple[Mapping[bytes, HalfVector], Collection[bytes]]:
    """A vector for each digest, and the digests embedded now; new vectors are stored at once.

    known: the stored vectors of these digests.
    Zero vectors are stored too, so that a migration doesn't wait for them, and never reused.
    """
    vectors = dict(known)
    missing = [digest for digest in texts if digest not in known]
    for start in range(0, len(missing), embedder.batch_texts_max):
        batch = missing[start : start + embedder.batch_texts_max]
        with bill_to(tenant):
            rows = await embedder.embed_passages([texts[digest] for digest in batch])
        new = {digest: HalfVector(row) for digest, row in zip(batch, rows, strict=True)}
        await documents.keep_embeddings(tenant, embedder.space, new)
        vectors |= new
    return vectors, missing
