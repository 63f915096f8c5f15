"""Builds the clients of the language model, and reads its prompts, as the settings name them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from gateway.extension import (
    ChatOperation,
    CommandError,
    Metrics,
    PromptOperation,
    Settings,
)
from gateway.extensions._chat import outgoing
from gateway.extensions._chat.budgeted_chat import BudgetedChat

if TYPE_CHECKING:
    from gateway.extensions._chat.chat_model import ChatModel

OnClose: TypeAlias = tuple[Callable[[], Awaitable[None]], ...]

_RETRIES_MAX = 2  # per call; a starting value, not measured


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
            http_client=outgoing.http_client(),
        )

    def model(self, operation: ChatOperation) -> "ChatModel":
        """The model of an operation for which one is configured."""
        from gateway.extensions._chat.chat_model import ChatModel

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


def budgeted(
    settings: Settings,
    metrics: Metrics,
    check_budget: Callable[[], Awaitable[None]],
    operations: Sequence[ChatOperation],
) -> tuple[Mapping[ChatOperation, BudgetedChat], OnClose]:
    """The language model of each of the operations that has one, and what closes them.

    check_budget: raises `BudgetSpent` if the billed tenant's budget is spent.
    """
    names = {each: settings.chat_model_of(each) for each in operations}
    if not any(names.values()):
        return {}, ()
    models, service = Models(settings, metrics), settings.chat_base_url or ""
    chats = {
        each: BudgetedChat(f"{service}\0{name}", models.model(each), check_budget)
        for each, name in names.items()
        if name is not None
    }
    return chats, (models.close,)


def read_prompt(settings: Settings, operation: PromptOperation, placeholder: str) -> str | None:
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
