"""Answers that a language model writes from the passages that a search returned."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from gateway.extensions._chat import prompt_quoting
from gateway.extensions._chat.budgeted_chat import BudgetedChat
from gateway.extensions._passages import excerpts, token_estimate
from gateway.extensions._passages.passage import Passage

# Starting values, not measured.
CONTEXT_TOKENS = 3_000  # of the passages' texts, estimated
TOKENS_MAX = 1_000  # of the answer


class AnswerGenerator:
    """edition: of the texts; names the model, its instruction and `TOKENS_MAX`."""

    def __init__(self, chat: BudgetedChat, instruction: str) -> None:
        self.edition = chat.edition(f"{TOKENS_MAX} {instruction}")
        self._chat = chat
        self._instruction = instruction

    def select_passages(self, passages: Sequence[Passage]) -> list[Passage]:
        """The first passages that fit into the limit, at least one; the last one may be cut."""
        tokens_left, selected = CONTEXT_TOKENS, list[Passage]()
        for passage in passages:
            text = excerpts.first_sentences(passage.text, tokens_left)
            if not text and not selected:  # the model needs some text to answer from
                text = excerpts.first_words(passage.text, tokens_left)
            if not text:
                break
            tokens_left -= token_estimate.count(text)
            selected.append(passage.with_text(text))
        return selected

    async def generate(
        self,
        tenant: str,
        question: str,
        history: Sequence[Mapping[str, str]],
        passages: Sequence[Passage],
        on_text: Callable[[str], Awaitable[None]],
    ) -> str:
        """The model's finish reason. on_text: receives the answer's pieces. Billed to the tenant.

        Raises `ChatUnavailable`, also after some pieces, and `BudgetSpent`.
        """
        mark = prompt_quoting.make_mark()
        return await self._chat.stream(
            tenant,
            self._instruction.replace(prompt_quoting.MARK, mark),
            context_passages(question, history, passages, mark),
            tokens_max=TOKENS_MAX,
            on_text=on_text,
        )


def context_passages(
    question: str,
    history: Sequence[Mapping[str, str]],
    passages: Sequence[Passage],
    mark: str,
) -> str:
    """The text that the model answers from, all of it quoted; documents are numbered from 1."""
    parts = [
        prompt_quoting.quote("DOCUMENT", passage.text, mark, number=number, title=passage.heading)
        for number, passage in enumerate(passages, start=1)
    ]
    if history:
        parts.append(prompt_quoting.quote_conversation(history, mark))
    parts.append(prompt_quoting.quote("QUESTION", question, mark))
    return "\n\n".join(parts)
