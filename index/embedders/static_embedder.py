"""Embeds without running a model: a text's vector is the sum of its tokens' vectors in a table.

The table and the tokenizer are files; see `index/embedders/static_model.py`.
"""

import asyncio
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Encoding, Tokenizer

from index.embedders import static_model

TOKENS_MAX = 4096  # of one text, 4 MB of vectors; later tokens are ignored
BATCH_TEXTS = 64  # bounds the memory of the tokenizer
BATCH_TEXTS_MAX = 1_000  # 1 MB of vectors, a second's work
INLINE_LENGTH_MAX = 500  # characters: more would block the event loop for over a millisecond
_UNKNOWN = 0  # the token of an empty text, whose sum would have no direction


class StaticEmbedder:
    """Equal texts get equal bytes in any batch.

    space: the same for all releases of the wheel, which never change a published model.
    alpha: see docs/decisions/0062-meaning-counts-less-between-languages.md.
    confident_score: see docs/decisions/0026-an-honest-i-dont-know.md.
    """

    dimensions = static_model.DIMENSIONS
    space = f"wordllama-{static_model.NAME}-{dimensions}"
    alpha = 0.25
    languages = frozenset({"en"})  # its training texts are English
    confident_score = 0.25
    tokens_max = TOKENS_MAX
    batch_texts_max = BATCH_TEXTS_MAX

    def __init__(self) -> None:
        """Raises `EmbedderRefused` if the model is not installed."""
        weights = load_file(static_model.weights())
        self._table = weights["embedding.weight"].astype(np.float32)
        self._tokenizer = Tokenizer.from_file(str(static_model.tokenizer()))

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """The text's unit vector; the model embeds queries and passages alike."""
        vector: NDArray[np.float32] = (await self.embed_passages([text]))[0]
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector for each text, shape (texts, dimensions); also for an empty text."""
        if sum(map(len, texts)) > INLINE_LENGTH_MAX:
            return await asyncio.to_thread(self._embed, texts)
        # One by one is faster for a single query: no threads to wake.
        return self._pool(self._tokenizer.encode(text, add_special_tokens=False) for text in texts)

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        batches = (
            texts[start : start + BATCH_TEXTS] for start in range(0, len(texts), BATCH_TEXTS)
        )
        return self._pool(
            encoding
            for batch in batches
            for encoding in self._tokenizer.encode_batch_fast(batch, add_special_tokens=False)
        )

    def _pool(self, encodings: Iterable[Encoding]) -> NDArray[np.float32]:
        tokens = (encoding.ids[:TOKENS_MAX] or [_UNKNOWN] for encoding in encodings)
        sums = [self._table.take(ids, axis=0).sum(axis=0) for ids in tokens]
        vectors = np.array(sums, dtype=np.float32).reshape(-1, self.dimensions)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors
