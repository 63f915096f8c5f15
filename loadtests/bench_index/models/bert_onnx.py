"""Writes a packed E5 as a folder for Nearhit's embedder `onnx:FOLDER`, with weights of 8 bits."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import Unigram
from tokenizers.processors import TemplateProcessing

from loadtests.bench_index.models.packed_e5 import PackedE5

_OPSET = 17  # the first with LayerNormalization
_PROMPTS = {"query": "query: ", "passage": "passage: "}  # as E5 was trained


def write(model: PackedE5, folder: Path, name: str) -> None:
    """Fill the folder, which is empty."""
    whole = folder / "whole.onnx"
    onnx.save(_Graph(model).build(), whole)
    quantize_dynamic(whole, folder / "model.onnx", weight_type=QuantType.QInt8, per_channel=True)
    whole.unlink()
    _tokenizer(model).save(str(folder / "tokenizer.json"))
    _write_json(folder / "config_sentence_transformers.json", {"prompts": _PROMPTS})
    _write_json(
        folder / "config.json",
        {"_name_or_path": name, "max_position_embeddings": model.tokens_max},
    )


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value))


def _tokenizer(model: PackedE5) -> Tokenizer:
    """SentencePiece's normalisation and pieces, as those of XLM-RoBERTa."""
    tokenizer = Tokenizer(Unigram(list(model.pieces), unk_id=model.unknown))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", model.start), ("</s>", model.end)]
    )
    return tokenizer


class _Graph:
    """BERT's encoder of one text: `input_ids` (1, tokens) to `last_hidden_state`."""

    def __init__(self, model: PackedE5) -> None:
        self._model = model
        self._nodes: list[onnx.NodeProto] = []
        self._weights: dict[str, onnx.TensorProto] = {}

    def build(self) -> onnx.ModelProto:
        output = self._embedding()
        for layer in range(self._model.layers):
            output = self._layer(f"l{layer}", output)
        self._nodes.append(helper.make_node("Identity", [output], ["last_hidden_state"]))
        shape = [1, "tokens"]
        graph = helper.make_graph(
            self._nodes,
            "e5",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, shape)],
            [
                helper.make_tensor_value_info(
                    "last_hidden_state", TensorProto.FLOAT, [*shape, self._model.hidden]
                )
            ],
            list(self._weights.values()),
        )
        opsets = [helper.make_opsetid("", _OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def _embedding(self) -> str:
        hidden = self._model.hidden
        words = self._op("Gather", self._tensor("emb.word", (-1, hidden)), "input_ids")
        length = self._op("Shape", "input_ids")
        positions = self._op(
            "Slice",
            self._tensor("emb.pos", (-1, hidden)),
            self._constant("first", np.array([0])),
            self._op("Gather", length, self._constant("last_axis", np.array([1]))),
        )
        kinds = self._model.tensors["emb.type"][:hidden]  # a single text has the first kind alone
        total = self._op("Add", self._op("Add", words, positions), self._constant("kind", kinds))
        return self._normalised(total, "emb.ln")

    def _layer(self, name: str, states: str) -> str:
        hidden, heads = self._model.hidden, self._model.heads
        shape = self._constant("heads", np.array([1, -1, heads, hidden // heads]))
        query, key, value = (
            self._op("Reshape", self._linear(f"{name}.{part}", states), shape) for part in "qkv"
        )
        turned = self._op("Transpose", key, perm=[0, 2, 3, 1])
        scores = self._op("MatMul", self._op("Transpose", query, perm=[0, 2, 1, 3]), turned)
        root = self._constant("root", np.float32((hidden // heads) ** 0.5))
        shares = self._op("Softmax", self._op("Div", scores, root), axis=-1)
        mixed = self._op("MatMul", shares, self._op("Transpose", value, perm=[0, 2, 1, 3]))
        joined = self._op(
            "Reshape",
            self._op("Transpose", mixed, perm=[0, 2, 1, 3]),
            self._constant("joined", np.array([1, -1, hidden])),
        )
        attended = self._normalised(
            self._op("Add", states, self._linear(f"{name}.ao", joined)), f"{name}.aln"
        )
        inner = self._gelu(self._linear(f"{name}.fi", attended))
        return self._normalised(
            self._op("Add", attended, self._linear(f"{name}.fo", inner)), f"{name}.oln"
        )

    def _linear(self, name: str, states: str) -> str:
        bias = self._model.tensors[f"{name}.b"]
        matrix = self._model.tensors[f"{name}.w"].reshape(len(bias), -1).T
        product = self._op("MatMul", states, self._constant(f"{name}.w", matrix))
        return self._op("Add", product, self._constant(f"{name}.b", bias))

    def _gelu(self, states: str) -> str:
        scaled = self._op("Div", states, self._constant("root_of_two", np.float32(2**0.5)))
        half = self._op("Mul", states, self._constant("half", np.float32(0.5)))
        error = self._op("Erf", scaled)
        return self._op("Mul", half, self._op("Add", error, self._constant("one", np.float32(1))))

    def _normalised(self, states: str, name: str) -> str:
        weights = [self._tensor(f"{name}.{part}", (-1,)) for part in "wb"]
        return self._op("LayerNormalization", states, *weights, epsilon=self._model.epsilon)

    def _tensor(self, name: str, shape: Sequence[int]) -> str:
        return self._constant(name, self._model.tensors[name].reshape(shape))

    def _constant(self, name: str, value: NDArray[np.generic] | np.generic) -> str:
        """The name; the first value of a name stays."""
        if name not in self._weights:
            array = np.ascontiguousarray(value) if np.ndim(value) else np.asarray(value)
            self._weights[name] = numpy_helper.from_array(array, name)
        return name

    def _op(self, kind: str, *inputs: str, **attributes: object) -> str:
        output = f"{kind}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output
