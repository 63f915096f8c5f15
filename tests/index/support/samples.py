"""Documents, embedders and an invalidation, as the tests of `index` and `ingest` need them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cache.protocol import Revisions
from index.errors import EmbeddingUnavailable
from index.model.document import Document
from index.model.provenance import Author
from index.search.query_embedder import Embedder
from ingest.write.revision import Put, Written, require_written
from ingest.write.writer import Writer

T = TypeVar("T")

PLAIN = Document(
    document_id="leave",
    title="Annual leave",
    text="Everybody gets 25 days of annual leave a year.",
    source="handbook",
    uri="https://handbook.example/leave",
    language="en",
    tags=("people",),
    metadata={"team": "people"},
    owner="ana",
    readers=("tenant",),
)


def a_document(document_id: str, text: str = PLAIN.text, **fields: Any) -> Document:
    """A document that all of the tenant may read, in which the fields differ from the usual."""
    return replace(PLAIN, document_id=document_id, text=text, **fields)


def subsets(things: Sequence[T]) -> list[tuple[T, ...]]:
    """Every choice of the things, from none to all."""
    sizes = range(len(things) + 1)
    return list(chain.from_iterable(combinations(things, size) for size in sizes))


async def put(writer: Writer, document: Document, tenant: str = "acme") -> Written:
    """Write the document, whatever is stored."""
    return await writer.put(
        tenant,
        document.document_id,
        lambda _stored: document,
        may_publish=True,
        author=Author(document.provenance),
    )


async def put_all(writer: Writer, documents: Iterable[Document], tenant: str = "acme") -> None:
    """Write different documents together, whatever is stored."""
    for outcome in await writer.put_all(tenant, [*map(as_put, documents)]):
        require_written(outcome)


def as_put(document: Document) -> Put:
    """The document, whatever is stored."""
    author = Author(document.provenance)
    return Put(document.document_id, lambda _stored: document, may_publish=True, author=author)


class RecordingEmbedder:
    """Another embedder, and a record of the texts that it was given, in how many calls."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.space = embedder.space
        self.dimensions = embedder.dimensions
        self.alpha = embedder.alpha
        self.confident_score = embedder.confident_score
        self.tokens_max = embedder.tokens_max
        self.batch_texts_max = embedder.batch_texts_max
        self.texts: list[str] = []
        self.calls = 0

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        self.calls += 1
        self.texts.append(text)
        return await self._embedder.embed_query(text)

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls += 1
        self.texts += texts
        return await self._embedder.embed_passages(texts)


class AbsentEmbedder:
    """An embedding service that is down."""

    space = "absent"
    dimensions = 256
    alpha = 0.25
    confident_score = None
    tokens_max = 4096
    batch_texts_max = 1_000

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        raise EmbeddingUnavailable(f"no vector for {text!r}")

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise EmbeddingUnavailable(f"no vectors for {len(texts)} texts")


class IndifferentEmbedder:
    """To whom all texts mean the same."""

    space = "indifferent"
    dimensions = 4
    alpha = 0.5
    confident_score = None
    tokens_max = 4096
    batch_texts_max = 1_000

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = (await self.embed_passages([text]))[0]
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.full((len(texts), self.dimensions), 0.5, dtype=np.float32)


class RecordingInvalidation:
    """No cache to keep true, but a record of what would have been drained."""

    def __init__(self) -> None:
        self.drained: list[tuple[str, Mapping[str, int]]] = []

    async def drain(self, tenant: str, revisions: Revisions) -> None:
        self.drained.append((tenant, revisions.by_partition))
