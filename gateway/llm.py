"""The language model, and what it is used for, made of the settings that concern it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.circuit_breaker import MODEL, CircuitBreaker
from gateway.errors import CommandError
from gateway.metrics import Metrics
from gateway.settings import Settings
from index.errors import BudgetSpent
from index.model import chunking_config
from ingest.chunkers import registry
from ingest.chunkers.chunk import Chunk
from ingest.chunkers.llm_chunker import MAX_SIZE, LlmChunker, StoredModelChunks
from ingest.summaries.llm_summaries import LlmSummarizer
from ingest.write.llm_preprocessing import LlmPreprocessor

if TYPE_CHECKING:
    from ingest.chat_model import ChatModel

_RETRIES_MAX = 2  # of a call; a starting value, not measured

CheckBudget = Callable[[], Awaitable[None]]  # raises `BudgetSpent`


class MeteredChunker:
    """What a model cuts as long as who pays for it has money left; then the cut by structure."""

    def __init__(self, made: LlmChunker, check_budget: CheckBudget) -> None:
        self._made = made
        self._check_budget = check_budget

    async def chunks(self, text: str, stored: StoredModelChunks | None) -> list[Chunk]:
        try:
            await self._check_budget()
        except BudgetSpent:
            return await asyncio.to_thread(registry.chunks, text, chunking_config.MODEL)
        return await self._made.chunks(text, stored)


class MeteredSummarizer:
    """What a model says as long as who pays for it has money left; then what it has said before."""

    def __init__(self, made: LlmSummarizer, check_budget: CheckBudget) -> None:
        self._made = made
        self._check_budget = check_budget

    async def summaries_by_text(self, text: str, stored: Mapping[str, str]) -> Mapping[str, str]:
        try:
            await self._check_budget()
        except BudgetSpent:
            return stored
        return await self._made.summaries_by_text(text, stored)


class Models:
    """The language model of the settings, which name one; a breaker and a deadline for each use.

    Making the first one loads the client, which takes half a second.
    """

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        from openai import AsyncOpenAI

        assert settings.chat_model is not None, "else there is no model"
        key = settings.chat_api_key
        self._metrics = metrics
        self._name = settings.chat_model
        self._client = AsyncOpenAI(
            api_key=key.get_secret_value() if key else "none",
            base_url=settings.chat_base_url,
            max_retries=_RETRIES_MAX,
        )

    def model(self, operation: str, deadline_s: float) -> "ChatModel":
        from ingest.chat_model import ChatModel

        return ChatModel(
            self._client,
            model=self._name,
            breaker=CircuitBreaker(time.monotonic, MODEL),
            count_tokens=partial(self._metrics.llm_tokens, operation),
            deadline_s=deadline_s,
        )

    async def close(self) -> None:
        await self._client.close()


def make_preprocessor(
    settings: Settings, metrics: Metrics, check_budget: CheckBudget
) -> LlmPreprocessor:
    """Idle if no language model is set. Raises `NotPossible` if a prompt can't be read."""
    if settings.chat_model is None:
        return LlmPreprocessor()
    models = Models(settings, metrics)
    for_cuts, for_summaries = (
        models.model(operation, settings.chat_deadline_s) for operation in ("cut", "summary")
    )
    prompt = read_prompt("NEARHIT_CHUNKING_PROMPT", settings.chunking_prompt)
    model_cut = LlmChunker(for_cuts, metrics.llm_chunking, prompt=prompt)
    prompt = read_prompt("NEARHIT_SUMMARY_PROMPT", settings.summary_prompt)
    model_summaries = LlmSummarizer(for_summaries, metrics.llm_summary, prompt=prompt)
    return LlmPreprocessor(
        MeteredChunker(model_cut, check_budget), MeteredSummarizer(model_summaries, check_budget)
    )


def read_prompt(setting: str, path: Path | None, mention: str = MAX_SIZE) -> str | None:
    """What the setting's file says; None if it is unset.

    mention: what it has to say. Raises `NotPossible` if it does not, or can't be read.
    """
    if path is None:
        return None
    try:
        prompt = path.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{setting}: {error}") from None
    if mention not in prompt:
        raise CommandError(f"{setting}: {path} does not say {mention}")
    return prompt
