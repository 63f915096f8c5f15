"""A language model whose use is billed to a tenant, within the tenant's budget."""

import hashlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from common.billing_context import bill_to

if TYPE_CHECKING:  # loading its client takes half a second
    from gateway.extensions._chat.chat_model import ChatModel


class BudgetedChat:
    """check_budget: raises `BudgetSpent` if the billed tenant's budget is spent.

    name: of the model and its service.
    """

    def __init__(
        self, name: str, chat: "ChatModel", check_budget: Callable[[], Awaitable[None]]
    ) -> None:
        self._name = name
        self._chat = chat
        self._check_budget = check_budget

    def edition(self, instruction: str) -> str:
        """Identifies the model and its instruction in the keys of cached outputs."""
        text = f"{self._name}\0{instruction}"
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    async def answer(self, tenant: str, instruction: str, text: str, *, tokens_max: int) -> str:
        """As `ChatModel.answer`. Raises `ChatUnavailable` and `BudgetSpent`."""
        with bill_to(tenant):
            await self._check_budget()
            return await self._chat.answer(instruction, text, tokens_max=tokens_max)

    async def stream(
        self,
        tenant: str,
        instruction: str,
        text: str,
        *,
        tokens_max: int,
        on_text: Callable[[str], Awaitable[None]],
    ) -> str:
        """As `ChatModel.stream`. Raises `ChatUnavailable` and `BudgetSpent`."""
        with bill_to(tenant):
            await self._check_budget()
            return await self._chat.stream(
                instruction, text, tokens_max=tokens_max, on_text=on_text
            )
