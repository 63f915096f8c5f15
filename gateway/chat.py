"""The language model, and what it is used for, made of the settings that concern it."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from gateway.errors import NotPossible
from gateway.metrics import Metrics
from gateway.settings import Settings
from index import cut
from index.errors import BudgetSpent
from ingest.chunk import Chunk
from ingest.cuts import named
from ingest.cuts.model import MAX_SIZE, Known, ModelCut

_RETRIES_MAX = 2  # of a call; a starting value, not measured


class AffordableCut:
    """What a model cuts as long as who pays for it has money left; then the cut by structure."""

    def __init__(self, made: ModelCut, check_budget: Callable[[], Awaitable[None]]) -> None:
        """check_budget: raises `BudgetSpent`."""
        self._made = made
        self._check_budget = check_budget

    async def chunks(self, text: str, known: Known | None) -> list[Chunk]:
        try:
            await self._check_budget()
        except BudgetSpent:
            return await asyncio.to_thread(named.chunks, text, cut.MODEL)
        return await self._made.chunks(text, known)


def model_cut(
    settings: Settings, metrics: Metrics, check_budget: Callable[[], Awaitable[None]]
) -> AffordableCut | None:
    """None if no language model is set. Raises `NotPossible` if its prompt can't be read."""
    if settings.chat_model is None:
        return None
    from openai import AsyncOpenAI

    from ingest.chat import ChatModel

    key = settings.chat_api_key
    client = AsyncOpenAI(
        api_key=key.get_secret_value() if key else "none",
        base_url=settings.chat_base_url,
        max_retries=_RETRIES_MAX,
    )
    chat = ChatModel(
        client,
        model=settings.chat_model,
        clock_s=time.monotonic,
        count_tokens=metrics.chat_tokens,
        deadline_s=settings.chat_deadline_s,
    )
    made = ModelCut(chat, metrics.model_cut, prompt=_prompt(settings))
    return AffordableCut(made, check_budget)


def _prompt(settings: Settings) -> str | None:
    if settings.cut_prompt is None:
        return None
    try:
        prompt = settings.cut_prompt.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NotPossible(f"NEARHIT_CUT_PROMPT: {error}") from None
    if MAX_SIZE not in prompt:
        raise NotPossible(f"NEARHIT_CUT_PROMPT: {settings.cut_prompt} does not say {MAX_SIZE}")
    return prompt
