"""An embedder without a model, of any dimension, for tests: similarity is common words."""

import re
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from index.embedders.vectors import DIMENSIONS_MAX

DIMENSIONS = 256
_WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Texts with common words are similar; equal texts have equal bytes, in any process.

    Its limits are those of a typical embedder.
    """

    alpha = 0.5
    confident_score = None
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
        """One unit vector for each text, shape (texts, dimensions); also for an empty text."""
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            # Values are only added, so words can't cancel each other to a zero vector.
            for word in _WORD.findall(text.casefold())[: self.tokens_max] or [""]:
                row[_position(word) % self.dimensions] += 1
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


def _position(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big")
