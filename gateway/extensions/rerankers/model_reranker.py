"""A reranker that asks a language model."""

import re
from collections.abc import Sequence

from pydantic import BaseModel, Field, ValidationError

from gateway.extension import (
    Chat,
    Order,
    RerankerUnavailable,
)
from gateway.extensions._chat import prompt_quoting
from gateway.extensions._chat.errors import ChatTooLate, ChatUnavailable
from gateway.extensions.rerankers.passage_order import complete, passage_text
from index.errors import BudgetSpent
from index.search.hits import Hit

_ANSWER_TOKENS, _ANSWER_TOKENS_PASSAGE = 60, 6
_JSON = re.compile(r"\{.*\}", re.DOTALL)  # models often put a fence or words around it


class ModelReranker:
    """Asks a language model for the numbers of the hits, best first."""

    def __init__(self, chat: Chat, *, instruction: str) -> None:
        self._chat = chat
        self._instruction = instruction

    async def order(self, tenant: str, query: str, hits: Sequence[Hit]) -> Order:
        mark = prompt_quoting.make_mark()
        quotes = [prompt_quoting.quote("QUESTION", query, mark)]
        for number, hit in enumerate(hits, start=1):
            quotes.append(prompt_quoting.quote("RESULT", passage_text(hit), mark, number=number))
        tokens_max = _ANSWER_TOKENS + _ANSWER_TOKENS_PASSAGE * len(hits)
        try:
            output = await self._chat.answer(
                tenant,
                self._instruction.replace(prompt_quoting.MARK, mark),
                "\n\n".join(quotes),
                tokens_max=tokens_max,
            )
        except BudgetSpent:
            raise RerankerUnavailable("budget") from None
        except ChatTooLate:
            raise RerankerUnavailable("deadline") from None
        except ChatUnavailable:
            raise RerankerUnavailable("error") from None
        return _parse_output(output, len(hits))

    async def close(self) -> None:
        """Whoever made the model closes it."""


class _ModelOrder(BaseModel):
    order: list[int] = Field(min_length=1)


def _parse_output(output: str, count: int) -> Order:
    match = _JSON.search(output)
    try:
        numbers = _ModelOrder.model_validate_json(match[0] if match else "").order
    except ValidationError:
        raise RerankerUnavailable("garbage") from None
    return complete([(number - 1, None) for number in numbers], count)
