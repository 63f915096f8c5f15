"""An embedder whose calls are measured and traced, and whose failures the operator is told of."""

import time
from collections.abc import Awaitable, Callable, Sequence

import numpy as np
import structlog
from numpy.typing import NDArray

from gateway.monitoring.metrics import Metrics
from gateway.monitoring.tracing import Tracing
from index.errors import EmbeddingUnavailable
from index.search.query_embedder import Embedder

_SPANS = {"query": "embed query", "batch": "embed passages"}


class MeteredEmbedder:
    """Calls `embedder`, and measures and counts each call.

    A search continues without a failed embedder, so the log names each new reason once.
    """

    def __init__(
        self,
        embedder: Embedder,
        metrics: Metrics,
        check_budget: Callable[[], Awaitable[None]] | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        """check_budget: called before passages are embedded, not before questions, which cost
        little. It raises `BudgetSpent`. tracing: None if nothing is traced.
        """
        self._embedder = embedder
        self._metrics = metrics
        self._check_budget = check_budget
        self._tracing = tracing
        self._log = structlog.get_logger()
        self._away = {"query": "", "batch": ""}
        self.space = embedder.space
        self.dimensions = embedder.dimensions
        self.alpha = embedder.alpha
        self.confident_score = embedder.confident_score
        self.tokens_max = embedder.tokens_max
        self.batch_texts_max = embedder.batch_texts_max

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        return await self._watched("query", self._embedder.embed_query(text))

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._check_budget is not None:
            await self._check_budget()
        return await self._watched("batch", self._embedder.embed_passages(texts))

    async def _watched(
        self, kind: str, embedding: Awaitable[NDArray[np.float32]]
    ) -> NDArray[np.float32]:
        started_s = time.perf_counter()
        try:
            if self._tracing is None:
                vectors = await embedding
            else:
                with self._tracing.span(_SPANS[kind]):
                    vectors = await embedding
        except EmbeddingUnavailable as error:
            if self._away[kind] != str(error):
                self._away[kind] = str(error)
                self._log.warning("embedder", kind=kind, state="unavailable", detail=str(error))
            self._metrics.embedding_failed(kind)
            raise
        else:
            if self._away[kind]:
                self._log.info("embedder", kind=kind, state="available")
                self._away[kind] = ""
            return vectors
        finally:
            self._metrics.embedded(kind, time.perf_counter() - started_s)
