"""Builds the clients of the language model, and the preprocessing by it, from the settings."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from gateway.errors import CommandError
from gateway.monitoring.metrics import Metrics
from gateway.settings.groups.models import ChatOperation, PromptOperation
from gateway.settings.settings import Settings
from gateway.tracing import outgoing
from ingest.chunkers.llm_chunker import MAX_SIZE, LlmChunker
from ingest.summaries.llm_summaries import LlmSummarizer
from ingest.write.llm_preprocessing import LlmPreprocessor

if TYPE_CHECKING:
    from ingest.chat_model import ChatModel

_RETRIES_MAX = 2  # per call; a starting value, not measured
_OF_DOCUMENTS: tuple[ChatOperation, ChatOperation] = ("chunking", "summary")


class Models:
    """Clients of the configured language models, one per operation with a breaker and a deadline.

    The first instance imports the client library, which takes half a second.
    """

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        from openai import AsyncOpenAI

        key = settings.chat_api_key
        self._settings = settings
        self._metrics = metrics
        self._client = AsyncOpenAI(
            api_key=key.get_secret_value() if key else "none",
            base_url=settings.chat_base_url,
            max_retries=_RETRIES_MAX,
            http_client=outgoing.http_client(settings),
        )

    def model(self, operation: ChatOperation) -> "ChatModel":
        """The model of an operation for which one is configured."""
        from ingest.chat_model import ChatModel

        name = self._settings.chat_model_of(operation)
        assert name is not None, "the caller checks that a model is configured"
        return ChatModel(
            self._client,
            model=name,
            count_tokens=partial(self._metrics.llm_tokens, operation),
            deadline_s=self._settings.deadline_s_of(operation),
        )

    async def close(self) -> None:
        await self._client.close()


def make_preprocessor(
    settings: Settings, metrics: Metrics, check_budget: Callable[[], Awaitable[None]]
) -> LlmPreprocessor:
    """Without a language model, one that calls none. Raises `CommandError` for a bad prompt."""
    chunks, summarizes = (
        settings.chat_model_of(operation) is not None for operation in _OF_DOCUMENTS
    )
    if not (chunks or summarizes):
        return LlmPreprocessor()
    models = Models(settings, metrics)
    chunker, summarizer = None, None
    if chunks:
        chat = models.model("chunking")
        prompt = read_prompt(settings, "chunking")
        chunker = LlmChunker(chat, metrics.llm_chunking, prompt=prompt)
    if summarizes:
        chat = models.model("summary")
        prompt = read_prompt(settings, "summary")
        summarizer = LlmSummarizer(chat, metrics.llm_summary, prompt=prompt)
    return LlmPreprocessor(chunker, summarizer, check_budget)


def read_prompt(
    settings: Settings, operation: PromptOperation, placeholder: str = MAX_SIZE
) -> str | None:
    """The text of the operation's file; None if the settings name none.

    Raises `CommandError` if the file can't be read, or does not contain the placeholder.
    """
    path = settings.chat_prompts.get(operation)
    if path is None:
        return None
    setting = f"NEARHIT_CHAT_PROMPTS: {operation}"
    try:
        prompt = path.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{setting}: {error}") from None
    if placeholder not in prompt:
        raise CommandError(f"{setting}: {path} does not contain {placeholder}")
    return prompt
