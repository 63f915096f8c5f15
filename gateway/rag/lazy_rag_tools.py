"""Builds the RAG tools at their first use."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from cache.embedding_cache import EmbeddingCache
from common.shares.threads import FairThreads
from gateway.monitoring.metrics import Metrics
from gateway.rag.postprocessor_names import HEURISTIC, HEURISTIC_RANKER, PostprocessorNames
from gateway.rag.reranking.reranker import ConfiguredReranker
from gateway.settings.settings import Settings

if TYPE_CHECKING:
    from gateway.rag.factory import RagTools


class LazyRagTools:
    """Builds the tools at first use, so that a gateway that needs none does not load them.

    reranker: None for the heuristic. threads: for what postprocesses hits on this machine.
    """

    def __init__(
        self,
        settings: Settings,
        reranker: ConfiguredReranker | None,
        metrics: Metrics,
        rewrites: EmbeddingCache,
        check_budget: Callable[[], Awaitable[None]],
        threads: FairThreads,
    ) -> None:
        assert (reranker is None) == (settings.reranker == HEURISTIC)
        self._settings = settings
        self._reranker = reranker
        self._metrics = metrics
        self._rewrites = rewrites
        self._check_budget = check_budget
        self.threads = threads
        self._building = asyncio.Lock()
        self._tools: RagTools | None = None

    @property
    def postprocessor_names(self) -> PostprocessorNames:
        """An answer's cache key includes those that it uses."""
        compressor = self._settings.chat_model_of("compress")
        return PostprocessorNames(
            HEURISTIC_RANKER if self._reranker is None else self._reranker.name,
            "extract" if compressor is None else f"model:{compressor}",
        )

    async def tools(self) -> "RagTools":
        """Raises `CommandError` if a prompt can't be read; `lifespan` checks that at the start."""
        if self._tools is None:
            async with self._building:
                if self._tools is None:
                    self._tools = await asyncio.to_thread(self._build)
        return self._tools

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Close the tools at the end. Raises `CommandError` if a configured prompt is invalid."""
        if "rewrite" in self._settings.chat_prompts:
            await self.tools()
        try:
            yield
        finally:
            if self._tools is not None:
                await self._tools.close()

    def _build(self) -> "RagTools":
        from gateway.rag import factory

        return factory.build(
            self._settings,
            self._reranker,
            self._metrics,
            self._rewrites,
            self._check_budget,
            self.threads,
        )
