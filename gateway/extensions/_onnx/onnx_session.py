"""Runs a model in ONNX format on texts, on this machine's processors."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from gateway.extensions._onnx.onnx_model import OnnxModel
from index.errors import EmbedderRefused

THREADS = 2  # of a worker for each model; a starting value, not measured

# The inputs of models, by the names that all exporters use.
_INPUTS: Mapping[str, Callable[[Encoding], Sequence[int]]] = {
    "input_ids": lambda tokens: tokens.ids,
    "attention_mask": lambda tokens: tokens.attention_mask,
    "token_type_ids": lambda tokens: tokens.type_ids,
    "position_ids": lambda tokens: range(len(tokens.ids)),
}
_TYPES: Mapping[str, type[np.integer[Any]]] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


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


class TextModel:
    """A model with its tokenizer; it runs on one text, or one pair of texts, at a time.

    output: the first of the wanted outputs that the model has, or else its first one.
    """

    def __init__(self, model: OnnxModel, session: OnnxSession, *outputs: str) -> None:
        """outputs: the wanted ones, by name. Raises `EmbedderRefused`."""
        self._session = session
        self._inputs = _inputs(session)
        held = [node.name for node in session.get_outputs()]
        self.output = next((name for name in outputs if name in held), held[0])
        self._tokenizer = _tokenizer(model)

    def run(self, text: str, pair: str | None = None) -> NDArray[Any]:
        """The output for a batch of one. Raises what the library raises."""
        tokens = self._tokenizer.encode(text, pair)
        feeds = {
            name: np.array([_INPUTS[name](tokens)], dtype) for name, dtype in self._inputs.items()
        }
        (batch,) = self._session.run([self.output], feeds)
        return batch


def _inputs(session: OnnxSession) -> dict[str, type[np.integer[Any]]]:
    """The type of each of the model's inputs."""
    inputs = session.get_inputs()
    unknown = [node.name for node in inputs if node.name not in _INPUTS or node.type not in _TYPES]
    if unknown:
        raise EmbedderRefused(
            f"the model has inputs {', '.join(unknown)}, but only {', '.join(_INPUTS)} are known"
        )
    return {node.name: _TYPES[node.type] for node in inputs}


def _tokenizer(model: OnnxModel) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(model.tokenizer))
        tokenizer.no_padding()  # some files set it, even to a fixed length
        tokenizer.enable_truncation(model.tokens_max)
    except Exception as error:  # the package raises no narrower class
        raise EmbedderRefused(f"{model.tokenizer} is not a tokenizer: {error}") from None
    return tokenizer
