"""An embedder whose calls are spans."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from index.search.query_embedder import Embedder

if TYPE_CHECKING:
    from gateway.tracing.tracing import Tracing


class TracedEmbedder:
    def __init__(self, embedder: Embedder, tracing: "Tracing") -> None:
        self._embedder = embedder
        self._tracing = tracing
        self.space = embedder.space
        self.dimensions = embedder.dimensions
        self.alpha = embedder.alpha
        self.confident_score = embedder.confident_score
        self.tokens_max = embedder.tokens_max
        self.batch_texts_max = embedder.batch_texts_max

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        with self._tracing.span("embed query"):
            return await self._embedder.embed_query(text)

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        with self._tracing.span("embed passages"):
            return await self._embedder.embed_passages(texts)
