"""Builds the RAG tools at their first use."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, assert_never

from cache.embedding_cache import EmbeddingCache
from gateway.monitoring.metrics import Metrics
from gateway.rag.postprocessor_names import PostprocessorNames
from gateway.settings.settings import Settings

if TYPE_CHECKING:
    from gateway.rag.factory import RagTools


def postprocessor_names(settings: Settings) -> PostprocessorNames:
    """The configured postprocessors. An answer's cache key includes those that it uses."""
    compressor = settings.chat_model_of("compress")
    return PostprocessorNames(
        _ranker_name(settings), "extract" if compressor is None else f"model:{compressor}"
    )


def _ranker_name(settings: Settings) -> str:
    """Names all settings on which the order depends."""
    match settings.active_reranker:
        case "service":
            return f"service:{settings.rerank_url} {settings.chat_models.get('rerank')}"
        case "model":
            return f"model:{settings.chat_model_of('rerank')}"
        case "heuristic":
            return "heuristic"
        case unknown:
            assert_never(unknown)


class LazyRagTools:
    """Builds the tools at first use, so that a gateway that needs none does not load them."""

    def __init__(
        self,
        settings: Settings,
        metrics: Metrics,
        rewrites: EmbeddingCache,
        check_budget: Callable[[], Awaitable[None]],
    ) -> None:
        self._settings = settings
        self._metrics = metrics
        self._rewrites = rewrites
        self._check_budget = check_budget
        self._building = asyncio.Lock()
        self._tools: RagTools | None = None

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

        return factory.build(self._settings, self._metrics, self._rewrites, self._check_budget)
