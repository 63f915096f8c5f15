"""An embedder that goes away, or takes its time, as a test tells it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from index.errors import EmbeddingUnavailable
from index.search.query_embedder import Embedder


@dataclass(slots=True)
class MoodyEmbedder:
    """Otherwise as `real`. calls: how often it was asked. asked: set whenever it is."""

    real: Embedder
    away: bool = False
    calls: int = 0
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    _may_answer: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._may_answer.set()

    @property
    def space(self) -> str:
        return self.real.space

    @property
    def dimensions(self) -> int:
        return self.real.dimensions

    @property
    def alpha(self) -> float:
        return self.real.alpha

    @property
    def confident_score(self) -> float | None:
        return self.real.confident_score

    @property
    def tokens_max(self) -> int:
        return self.real.tokens_max

    @property
    def batch_texts_max(self) -> int:
        return self.real.batch_texts_max

    def hold(self) -> None:
        """Whoever asks waits until `go_on`."""
        self.asked.clear()
        self._may_answer.clear()

    def go_on(self) -> None:
        self._may_answer.set()

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        await self._mood()
        return await self.real.embed_query(text)

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        await self._mood()
        return await self.real.embed_passages(texts)

    async def _mood(self) -> None:
        self.calls += 1
        self.asked.set()
        await self._may_answer.wait()
        if self.away:
            raise EmbeddingUnavailable("the test said so")
