"""Embeds a text as the sum of its tokens' vectors in a table, at length one."""

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from index.embedders.embedder_threads import EmbedderThreads

TOKENS_MAX = 4096  # of one text, 4 MB of vectors; later tokens are ignored
BATCH_TEXTS_MAX = 1_000  # 1 MB of vectors, a second's work
INLINE_LENGTH_MAX = 500  # characters: more would block the event loop for over a millisecond
_FIRST = 0  # the token of a text without tokens, whose sum would have no direction


class TextTokens(Protocol):
    """Gives the numbers of a text's tokens, and of many texts' in their order."""

    def of_text(self, text: str, /) -> Sequence[int]: ...
    def of_texts(self, texts: Sequence[str], /) -> Iterable[Sequence[int]]: ...


class TokenTable:
    """Equal texts get equal bytes in any batch.

    table:   a row for each token, shape (tokens, dimensions).
    ignored: the token that stands for what the tokenizer does not know, if it does not count.
    """

    def __init__(
        self, table: NDArray[np.float32], tokens: TextTokens, ignored: int | None = None
    ) -> None:
        self._table = table
        self._tokens = tokens
        self._ignored = ignored
        self._threads = EmbedderThreads()

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """The text's unit vector."""
        if len(text) > INLINE_LENGTH_MAX:
            vectors = await self._threads.embed_query(self._embed, [text])
        else:
            vectors = self._pool([self._tokens.of_text(text)])
        vector: NDArray[np.float32] = vectors[0]
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector for each text, shape (texts, dimensions); also for an empty text."""
        if sum(map(len, texts)) > INLINE_LENGTH_MAX:
            return await self._threads.embed_passages(self._embed, texts)
        return self.embed_inline(texts)

    def embed_inline(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._pool(map(self._tokens.of_text, texts))

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._pool(self._tokens.of_texts(texts))

    def _pool(self, texts_tokens: Iterable[Sequence[int]]) -> NDArray[np.float32]:
        sums = [self._sum(tokens[:TOKENS_MAX]) for tokens in texts_tokens]
        vectors = np.array(sums, dtype=np.float32).reshape(-1, self._table.shape[1])
        lengths = np.sqrt(np.add.reduce(vectors * vectors, axis=1, keepdims=True))
        if np.count_nonzero(lengths) < len(lengths):
            # A row of a folder's table may be zero, or cancel another.
            vectors[~lengths.any(axis=1), 0] = 1
            lengths[lengths == 0] = 1
        vectors /= lengths
        return vectors

    def _sum(self, tokens: Sequence[int]) -> NDArray[np.float32]:
        if self._ignored is not None:
            tokens = [token for token in tokens if token != self._ignored]
        rows = self._table.take(tokens or [_FIRST], axis=0)
        total: NDArray[np.float32] = np.add.reduce(rows, axis=0)
        return total
