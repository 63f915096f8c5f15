"""What stands around retrieval, at hand: made when somebody first asks for it, and not before."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from cache.redis.store import RedisStore
from gateway.metrics import Metrics
from gateway.rag.postprocessor_names import PostprocessorNames
from gateway.settings import Settings

if TYPE_CHECKING:
    from gateway.rag.factory import RagTools


def postprocessor_names(settings: Settings) -> PostprocessorNames:
    """Part of the keys of answers: what others put in order, or shorten, others would not."""
    model = f"model:{settings.chat_model}"
    ranker = {"service": f"service:{settings.rerank_url} {settings.rerank_model}", "model": model}
    return PostprocessorNames(
        ranker.get(settings.active_reranker, settings.active_reranker),
        "extract" if settings.chat_model is None else model,
    )


class LazyRagTools:
    """Creates the tools at first use, so that a gateway that needs none loads no model."""

    def __init__(
        self,
        settings: Settings,
        metrics: Metrics,
        store: RedisStore,
        check_budget: Callable[[], Awaitable[None]],
    ) -> None:
        self._settings = settings
        self._metrics = metrics
        self._store = store
        self._check_budget = check_budget
        self._making = asyncio.Lock()
        self._tools: RagTools | None = None

    async def tools(self) -> "RagTools":
        if self._tools is None:
            async with self._making:
                if self._tools is None:
                    self._tools = await asyncio.to_thread(self._make)
        return self._tools

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Closed at the end, if it was made. Raises `NotPossible` for a prompt of no use."""
        if self._settings.rewrite_prompt or self._settings.answer_prompt:
            await self.tools()
        try:
            yield
        finally:
            if self._tools is not None:
                await self._tools.close()

    def _make(self) -> "RagTools":
        from gateway.rag import factory

        return factory.make(self._settings, self._metrics, self._store, self._check_budget)
