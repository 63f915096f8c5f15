"""An extension: a reranker that puts hits first which hold the whole question, word for word.

`NEARHIT_RERANKER=phrase` lets it order the hits of each search with `rerank`.
"""

import re
from collections.abc import Sequence

from nearhit.gateway.extension import (
    Chat,
    Extension,
    Order,
    RerankerKind,
    RerankerSettings,
)
from nearhit.index.search.hits import Hit

_WORD = re.compile(r"[^\W_]+")


class PhraseReranker:
    async def order(self, _tenant: str, query: str, hits: Sequence[Hit]) -> Order:
        phrase = _words(query)
        scores = [float(phrase in _words(f"{each.title} {each.text}")) for each in hits]
        return sorted(enumerate(scores), key=lambda scored: -scored[1])  # ties keep their order

    async def close(self) -> None:
        """It holds nothing."""


def _words(text: str) -> str:
    """Between single spaces, so that no phrase begins or ends within a word."""
    return " ".join(["", *_WORD.findall(text.casefold()), ""])


def _make(_settings: RerankerSettings, _chat: Chat | None) -> PhraseReranker:
    return PhraseReranker()


EXTENSION: Extension[None] = Extension(
    summary="hits that hold the whole question come first",
    rerankers={"phrase": RerankerKind(_make)},
)
