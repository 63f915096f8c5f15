"""A folder with a cross-encoder of a few nodes, written by hand: no wheel carries a real one.

Its number is how many pairs of equal tokens question and passage have.
"""

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing

_FLOAT, _INT64, _BOOL = 1, 7, 9  # TensorProto.DataType
_INT = 2  # AttributeProto.AttributeType
_NODES: Sequence[tuple[str, Sequence[str], str, int | None]] = (
    ("Transpose", ["input_ids"], "column", None),
    ("Equal", ["input_ids", "column"], "equal", None),
    ("Cast", ["equal"], "equals", _FLOAT),
    ("Cast", ["token_type_ids"], "is_passage", _BOOL),
    ("Not", ["is_passage"], "is_question", None),
    ("Cast", ["is_passage"], "passage", _FLOAT),
    ("Cast", ["is_question"], "question", _FLOAT),
    ("MatMul", ["question", "equals"], "counts", None),
    ("Mul", ["counts", "passage"], "of_tokens", None),
    ("ReduceSum", ["of_tokens"], "logits", None),
)


def lay_out(folder: Path, words: Sequence[str], *, output: str = "logits") -> Path:
    """The folder, made and filled. words: that the model tells apart, in lower case.

    output: of the graph; `of_tokens` has a number for each token.
    """
    folder.mkdir()
    nodes = _NODES[: [name for _, _, name, _ in _NODES].index(output) + 1]
    (folder / "model.onnx").write_bytes(_model(nodes, output))
    vocabulary = {"[UNK]": 0} | {word: number for number, word in enumerate(words, start=1)}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.post_processor = TemplateProcessing(single="$A", pair="$A:0 $B:1", special_tokens=[])
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def _model(nodes: Sequence[tuple[str, Sequence[str], str, int | None]], output: str) -> bytes:
    """A ModelProto: `onnx.proto` of ONNX numbers its fields."""
    graph = b"".join(_field(1, _node(*node)) for node in nodes)
    graph += _field(2, b"graph")
    graph += _field(11, _value("input_ids", _INT64)) + _field(11, _value("token_type_ids", _INT64))
    graph += _field(12, _value(output, _FLOAT))
    operators = _field(1, b"") + _number(2, 13)
    return _number(1, 8) + _field(7, graph) + _field(8, operators)


def _node(kind: str, inputs: Sequence[str], output: str, to: int | None) -> bytes:
    node = b"".join(_field(1, name.encode()) for name in inputs)
    node += _field(2, output.encode()) + _field(4, kind.encode())
    if to is not None:
        node += _field(5, _field(1, b"to") + _number(3, to) + _number(20, _INT))
    return node


def _value(name: str, kind: int) -> bytes:
    shape = _field(1, _number(1, 1)) + _field(1, _field(2, b"width"))
    if kind == _FLOAT:
        shape = _field(1, _field(2, b"rows")) + _field(1, _field(2, b"columns"))
    return _field(1, name.encode()) + _field(2, _field(1, _number(1, kind) + _field(2, shape)))


def _number(field: int, value: int) -> bytes:
    assert 0 <= value < 128, "it takes one byte"
    return bytes([*_varint(field << 3), value])


def _field(field: int, content: bytes) -> bytes:
    return bytes([*_varint(field << 3 | 2), *_varint(len(content))]) + content


def _varint(value: int) -> Sequence[int]:
    low, high = value & 127, value >> 7
    return [low | 128, *_varint(high)] if high else [low]
