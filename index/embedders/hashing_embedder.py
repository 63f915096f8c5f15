"""Embeds for tests: no model, any width, and a meaning that is no more than the words."""

import re
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from index.embedders.vectors import DIMENSIONS_MAX

DIMENSIONS = 256
_WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Texts with words in common are similar; equal texts get equal bytes, in any process.

    Its limits are those that a real one might have.
    """

    alpha = 0.5
    tokens_max = 4_096
    batch_texts_max = 1_000

    def __init__(self, dimensions: int = DIMENSIONS) -> None:
        assert 1 <= dimensions <= DIMENSIONS_MAX
        self.dimensions = dimensions
        self.space = f"hashing-{dimensions}"

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = (await self.embed_passages([text]))[0]
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a text, shape (texts, dimensions); an empty text has one too."""
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            # Only added to, so no two words can undo each other and leave no direction.
            for word in _WORD.findall(text.casefold())[: self.tokens_max] or [""]:
                row[_place(word) % self.dimensions] += 1
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


def _place(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big")
