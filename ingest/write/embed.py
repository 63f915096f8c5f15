"""Vectors for texts: those that the tenant has paid for already, and new ones for the rest."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

from index.documents.document_store import DocumentStore
from ingest.billing_context import bill_to


class PassageEmbedder(Protocol):
    """Texts to unit vectors, one row each. Raises `EmbeddingUnavailable`."""

    @property
    def space(self) -> str: ...
    @property
    def batch_texts_max(self) -> int: ...
    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


async def embed_missing(
    documents: DocumentStore, embedder: PassageEmbedder, tenant: str, wanted: Mapping[bytes, str]
) -> tuple[Mapping[bytes, HalfVector], Collection[bytes]]:
    """A vector for each digest, and those embedded now, which are kept whatever comes next."""
    known = await documents.known_embeddings(tenant, embedder.space, wanted)
    missing = [digest for digest in wanted if digest not in known]
    for at in range(0, len(missing), embedder.batch_texts_max):
        batch = missing[at : at + embedder.batch_texts_max]
        with bill_to(tenant):
            rows = await embedder.embed_passages([wanted[digest] for digest in batch])
        new = {digest: HalfVector(row) for digest, row in zip(batch, rows, strict=True)}
        await documents.keep_embeddings(tenant, embedder.space, new)
        known |= new
    return known, missing
