"""Embeds with a sentence-embedding model in ONNX format, on this machine's processors.

A run embeds one text, without batches: equal texts get equal bytes, even from a model that scales
its arithmetic by its whole input. It is also faster. Measured with all-MiniLM-L6-v2 in int8 on
paragraphs of 155 tokens, one thread: 37 passages a second one by one, 28 in batches of 8 sorted by
length, 22 in batches of 32. On two threads 64 passages a second, and a question of ten words takes
3.3 ms (4.3 on one thread), the best of three on a busy machine with two cores.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, assert_never

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from gateway.extensions.embedders.onnx_model import OnnxModel, Pooling
from index.embedders import unrelated_texts
from index.embedders.embedder_threads import EmbedderThreads
from index.embedders.vectors import DIMENSIONS_MAX, unit
from index.errors import EmbedderRefused, EmbeddingUnavailable

BATCH_TEXTS_MAX = 32  # half a second's work

# The inputs of models, by the names that all exporters use.
_INPUTS: Mapping[str, Callable[[Encoding], Sequence[int]]] = {
    "input_ids": lambda tokens: tokens.ids,
    "attention_mask": lambda tokens: tokens.attention_mask,
    "token_type_ids": lambda tokens: tokens.type_ids,
    "position_ids": lambda tokens: range(len(tokens.ids)),
}
_TYPES: Mapping[str, type[np.integer[Any]]] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_POOLED = "sentence_embedding"  # the output of a model that includes the pooling
_OUTPUTS = (
    _POOLED,
    "last_hidden_state",
    "token_embeddings",
)  # the first that the model has is used


class OnnxNode(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...


class OnnxSession(Protocol):
    """A loaded model; several threads may run it concurrently."""

    def get_inputs(self) -> Sequence[OnnxNode]: ...
    def get_outputs(self) -> Sequence[OnnxNode]: ...
    def run(
        self, outputs: Sequence[str], inputs: Mapping[str, NDArray[Any]]
    ) -> Sequence[NDArray[Any]]: ...


def load(path: Path, *, threads: int) -> OnnxSession:
    """Load the model, to run on this number of threads. Raises `EmbedderRefused`."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # With spinning, threads stay busy after a run: a seventh faster on two processors, but others
    # need these.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        session: OnnxSession = onnxruntime.InferenceSession(
            path, options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # the library's exceptions have no common base
        raise EmbedderRefused(f"{path} cannot be loaded: {error}") from None
    return session


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
        self._session = session
        self._inputs = _inputs(session)
        self._output = _output(session)
        if model.further and self._output != _POOLED:
            raise EmbedderRefused(
                f"{model.path} needs {', '.join(model.further)} after it: export it with an output "
                f"called {_POOLED}"
            )
        self._tokenizer = _tokenizer(model)
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
        tokens = self._tokenizer.encode(text)
        feeds = {
            name: np.array([_INPUTS[name](tokens)], dtype) for name, dtype in self._inputs.items()
        }
        (batch,) = self._session.run([self._output], feeds)
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


def _inputs(session: OnnxSession) -> dict[str, type[np.integer[Any]]]:
    """The type of each of the model's inputs."""
    inputs = session.get_inputs()
    unknown = [node.name for node in inputs if node.name not in _INPUTS or node.type not in _TYPES]
    if unknown:
        raise EmbedderRefused(
            f"the model has inputs {', '.join(unknown)}, but a sentence-embedding model has only "
            f"{', '.join(_INPUTS)}"
        )
    return {node.name: _TYPES[node.type] for node in inputs}


def _output(session: OnnxSession) -> str:
    names = [node.name for node in session.get_outputs()]
    return next((name for name in _OUTPUTS if name in names), names[0])


def _tokenizer(model: OnnxModel) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(model.tokenizer))
        tokenizer.no_padding()  # some files set it, even to a fixed length
        tokenizer.enable_truncation(model.tokens_max)
    except Exception as error:  # the package raises no narrower class
        raise EmbedderRefused(f"{model.tokenizer} is not a tokenizer: {error}") from None
    return tokenizer


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
