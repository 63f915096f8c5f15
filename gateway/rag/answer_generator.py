"""Answers written by a language model from the passages that a search has found."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from gateway.rag import context, prompt_quoting, token_estimate
from gateway.rag.metered_chat import BudgetedChat
from gateway.rag.passage import Passage


class AnswerGenerator:
    """context_tokens: most of the passages' texts, as estimated; tokens_max: of the answer."""

    def __init__(
        self, chat: BudgetedChat, *, instruction: str, context_tokens: int, tokens_max: int
    ) -> None:
        self._chat = chat
        self._instruction = instruction
        self._context_tokens = context_tokens
        self._tokens_max = tokens_max

    def select_passages(self, passages: Sequence[Passage]) -> list[Passage]:
        """As many as there is room for, the first one in any case; the last one is cut."""
        left, chosen = self._context_tokens, list[Passage]()
        for passage in passages:
            text = context.fitted(passage.text, left)
            if not text and not chosen:  # else the model would be asked with nothing to answer from
                text = context.begun(passage.text, left)
            if not text:
                break
            left -= token_estimate.count(text)
            chosen.append(passage.with_text(text))
        return chosen

    async def write(
        self,
        tenant: str,
        question: str,
        history: Sequence[Mapping[str, str]],
        passages: Sequence[Passage],
        on_text: Callable[[str], Awaitable[None]],
    ) -> str:
        """Why the model has ended. At the tenant's expense.

        Raises `ChatUnavailable`, also in the middle, and `BudgetSpent`.
        """
        mark = prompt_quoting.make_mark()
        return await self._chat.stream(
            tenant,
            self._instruction.replace(prompt_quoting.MARK, mark),
            context_passages(question, history, passages, mark),
            tokens_max=self._tokens_max,
            on_text=on_text,
        )


def context_passages(
    question: str,
    history: Sequence[Mapping[str, str]],
    passages: Sequence[Passage],
    mark: str,
) -> str:
    """What the model is shown: all of it quoted, documents by their numbers from 1."""
    parts = [
        prompt_quoting.quote("DOCUMENT", each.text, mark, number=number, title=each.heading)
        for number, each in enumerate(passages, start=1)
    ]
    if history:
        parts.append(prompt_quoting.conversation(history, mark))
    parts.append(prompt_quoting.quote("QUESTION", question, mark))
    return "\n\n".join(parts)
