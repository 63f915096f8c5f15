"""Shortens the messages of a conversation to a budget of tokens. Pure.

The newest messages stay whole as far as they fit; of the older ones the sentences stay that concern
the question.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.extensions._passages import excerpts, token_estimate
from gateway.extensions._passages.excerpts import SourceText


@dataclass(frozen=True, slots=True)
class CompressedMessages:
    """texts: of each message, empty if nothing of it fits. tokens: estimated, of all of them.

    tokens_before: estimated, of the whole messages.
    """

    texts: tuple[str, ...]
    tokens: int
    tokens_before: int


def compress(
    texts: Sequence[str], question: str, *, budget: int, kept_last: int, language: str
) -> CompressedMessages:
    """The texts in their order, together within the budget.

    kept_last: the number of newest messages that stay whole; the first of them that does not fit
        is cut after its last sentence that fits, and everything older is left out.
    """
    tokens_before = _tokens(texts)
    if tokens_before <= budget:
        return CompressedMessages(tuple(texts), tokens_before, tokens_before)
    tokens_left, newest = budget, list[str]()
    older_count = max(0, len(texts) - kept_last)
    for text in reversed(texts[older_count:]):
        shown = excerpts.first_sentences(text, tokens_left)
        newest.insert(0, shown)
        tokens_left -= token_estimate.count(shown)
        if len(shown) < len(text.strip()):
            tokens_left = 0
    sources = [
        SourceText(text, language, f"## [{number}]")
        for number, text in enumerate(texts[:older_count], start=1)
    ]
    kept = (*excerpts.matching_sentences(sources, question, tokens_left), *newest)
    return CompressedMessages(kept, _tokens(kept), tokens_before)


def _tokens(texts: Sequence[str]) -> int:
    return sum(map(token_estimate.count, texts))
