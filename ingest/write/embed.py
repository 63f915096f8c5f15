"""Embeds the texts that have no vector yet."""

from collections.abc import Mapping, Sequence
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
    documents: DocumentStore, embedder: PassageEmbedder, tenant: str, texts: Mapping[bytes, str]
) -> list[bytes]:
    """Embed the texts, by digest, that have no vector yet; return their digests.

    The vectors are stored at once: an embedder may be slow or paid, and the commit may fail.
    """
    known = await documents.embedded_digests(tenant, embedder.space, texts)
    missing = [digest for digest in texts if digest not in known]
    for start in range(0, len(missing), embedder.batch_texts_max):
        batch = missing[start : start + embedder.batch_texts_max]
        with bill_to(tenant):
            rows = await embedder.embed_passages([texts[digest] for digest in batch])
        new = {digest: HalfVector(row) for digest, row in zip(batch, rows, strict=True)}
        await documents.keep_embeddings(tenant, embedder.space, new)
    return missing
