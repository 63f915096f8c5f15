"""Embeds with a sentence-embedding model in ONNX format, on this machine's processors.

A run embeds one text, without batches: equal texts get equal bytes, even from a model that scales
its arithmetic by its whole input. It is also faster. Measured with all-MiniLM-L6-v2 in int8 on
paragraphs of 155 tokens, one thread: 37 passages a second one by one, 28 in batches of 8 sorted by
length, 22 in batches of 32. On two threads 64 passages a second, and a question of ten words takes
3.3 ms (4.3 on one thread), the best of three on a busy machine with two cores.
"""

from collections.abc import Sequence
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from gateway.extensions._onnx.onnx_model import OnnxModel, Pooling
from gateway.extensions._onnx.onnx_session import OnnxSession, TextModel
from gateway.extensions.embedders import unrelated_texts
from index.embedders.embedder_threads import EmbedderThreads
from index.embedders.vectors import DIMENSIONS_MAX, unit
from index.errors import EmbedderRefused, EmbeddingUnavailable

BATCH_TEXTS_MAX = 32  # half a second's work

_POOLED = "sentence_embedding"  # the output of a model that includes the pooling
_OUTPUTS = (
    _POOLED,
    "last_hidden_state",
    "token_embeddings",
)  # the first that the model has is used


class OnnxEmbedder:
    """space: depends on the contents of the model's folder, not on its path.
    alpha: by how alike the model finds unrelated texts. 0.2, 0.3, 0.4, 0.5 and 0.7 gave
           all-MiniLM-L6-v2 in int8 a mean nDCG@10 of 0.831, 0.836, 0.840, 0.838 and 0.822 on 400
           questions each of four public English sets (xquad, pira, scifact, squad by sentences).

    Passages of a tenant are embedded one after another.
    """

    def __init__(self, model: OnnxModel, session: OnnxSession) -> None:
        """Raises `EmbedderRefused`."""
        self.space = f"onnx-{model.name}-{model.digest()}"
        self.confident_score = None
        self.tokens_max = model.tokens_max
        self.batch_texts_max = BATCH_TEXTS_MAX
        self._query_prefix = model.query_prefix
        self._passage_prefix = model.passage_prefix
        self._pooling = model.pooling
        self._model = TextModel(model, session, *_OUTPUTS)
        if model.further and self._model.output != _POOLED:
            raise EmbedderRefused(
                f"{model.path} needs {', '.join(model.further)} after it: export it with an output "
                f"called {_POOLED}"
            )
        self.dimensions = self._measure_dimensions(model)
        self.alpha = self._measure_alpha(model)
        self._threads = EmbedderThreads()

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """The unit vector of the text after the query prefix. Raises `EmbeddingUnavailable`."""
        vector = await self._threads.embed_query(self._embed, self._query_prefix + text)
        _require_direction(vector)
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a text, shape (texts, dimensions). Raises `EmbeddingUnavailable`.

        The vector of a text to which the model gives none with a direction is zero.
        """
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            prefixed = self._passage_prefix + text
            row[:] = await self._threads.embed_passages(self._embed, prefixed)
        return vectors

    def _embed(self, text: str) -> NDArray[np.float32]:
        try:
            vector = self._run(text)
        except Exception as error:  # the library's exceptions have no common base
            raise EmbeddingUnavailable(f"the model failed: {error}") from None
        row: NDArray[np.float32] = unit(vector[np.newaxis])[0]
        return row

    def _run(self, text: str) -> NDArray[Any]:
        batch = self._model.run(text)
        return batch[0] if batch.ndim == 2 else _pool(batch[0], self._pooling)

    def _measure_dimensions(self, model: OnnxModel) -> int:
        """The dimensions of the vector of the longest text, which must not fail."""
        try:
            vector = self._run("a " * model.tokens_max)
            _require_direction(unit(vector[np.newaxis]))
        except Exception as error:  # the library's exceptions have no common base
            raise EmbedderRefused(
                f"{model.path} fails on a text of {model.tokens_max:,} tokens; `max_seq_length` in "
                f"sentence_bert_config.json sets a lower limit: {error}"
            ) from None
        if vector.ndim != 1 or not 1 <= vector.size <= DIMENSIONS_MAX:
            raise EmbedderRefused(
                f"{model.path} gives vectors of shape {vector.shape}; an index allows up to "
                f"{DIMENSIONS_MAX:,} dimensions"
            )
        return vector.size

    def _measure_alpha(self, model: OnnxModel) -> float:
        try:
            return unrelated_texts.alpha_of(
                lambda text: self._embed(self._query_prefix + text),
                lambda text: self._embed(self._passage_prefix + text),
            )
        except EmbeddingUnavailable as error:
            raise EmbedderRefused(f"{model.path} fails on a short text: {error}") from None


def _require_direction(vector: NDArray[np.float32]) -> None:
    if not vector.any():
        raise EmbeddingUnavailable("the model gave a vector without a direction")


def _pool(tokens: NDArray[Any], pooling: Pooling) -> NDArray[Any]:
    """The vector of a text, not normalised; tokens: shape (tokens, dimensions)."""
    match pooling:
        case "mean":
            pooled = tokens.mean(axis=0)
        case "cls":
            pooled = tokens[0]
        case "max":
            pooled = tokens.max(axis=0)
        case "last":
            pooled = tokens[-1]
        case "weighted":  # later tokens weigh more
            pooled = np.arange(1, len(tokens) + 1) @ tokens
        case _:
            assert_never(pooling)
    vector: NDArray[Any] = pooled
    return vector
