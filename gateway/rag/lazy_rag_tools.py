"""What stands around retrieval, at hand: made when somebody first asks for it, and not before."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from cache.redis.store import Store
from gateway.curation.low_confidence_log import Doubts
from gateway.metrics import Metrics
from gateway.rag.postprocessor_names import Helpers
from gateway.settings import Settings
from index.tenants.curation import Curation

if TYPE_CHECKING:
    from gateway.rag.factory import Tools


def helpers(settings: Settings) -> Helpers:
    """Part of the keys of answers: what others put in order, or shorten, others would not."""
    model = f"model:{settings.chat_model}"
    ranker = {"service": f"service:{settings.rerank_url} {settings.rerank_model}", "model": model}
    return Helpers(
        ranker.get(settings.ranker, settings.ranker),
        "extract" if settings.chat_model is None else model,
    )


class Assisting:
    """doubts: of answers that were not sure."""

    def __init__(
        self,
        settings: Settings,
        metrics: Metrics,
        store: Store,
        check_budget: Callable[[], Awaitable[None]],
        curation: Curation,
    ) -> None:
        self._settings = settings
        self._metrics = metrics
        self._store = store
        self._check_budget = check_budget
        self._making = asyncio.Lock()
        self._tools: Tools | None = None
        self.doubts = Doubts(curation, items_max=settings.curation_items_max)

    async def tools(self) -> "Tools":
        if self._tools is None:
            async with self._making:
                if self._tools is None:
                    self._tools = await asyncio.to_thread(self._make)
        return self._tools

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Closed at the end, if it was made. Raises `NotPossible` for a prompt of no use."""
        if self._settings.rewrite_prompt or self._settings.answer_prompt:
            await self.tools()
        try:
            yield
        finally:
            await self.doubts.settled()
            if self._tools is not None:
                await self._tools.close()

    def _make(self) -> "Tools":
        from gateway.rag import factory

        return factory.make(self._settings, self._metrics, self._store, self._check_budget)
