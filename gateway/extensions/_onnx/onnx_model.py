"""Reads the folder of a model in ONNX format: a sentence-embedding model, or a cross-encoder.

The layout is that of sentence-transformers; only the model and the tokenizer are required:

model.onnx, onnx/model.onnx        the model, or the only other *.onnx in either folder
tokenizer.json                     the tokenizer
1_Pooling/config.json              the pooling of the tokens' vectors; the mean if absent
config_sentence_transformers.json  `prompts`: the prefixes of queries and of passages
sentence_bert_config.json, tokenizer_config.json, config.json   the maximal length of a text
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import file_digest, sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from gateway.extension import CommandError
from index.errors import EmbedderRefused

T = TypeVar("T")
Pooling: TypeAlias = Literal["mean", "cls", "max", "last", "weighted"]

TOKENS_MAX = 512  # of a text: a chunk has 200 words, and the time grows with the square

# By sentence-transformers' names, current and old. A sum divided by the root of the length has the
# direction of the mean.
_POOLINGS: Mapping[str, Pooling] = {
    "mean": "mean",
    "mean_tokens": "mean",
    "mean_sqrt_len_tokens": "mean",
    "cls": "cls",
    "cls_token": "cls",
    "max": "max",
    "max_tokens": "max",
    "lasttoken": "last",
    "weightedmean": "weighted",
    "weightedmean_tokens": "weighted",
}
_SUPPORTED_MODULES = {"Transformer", "Pooling", "Normalize"}


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """name:    the model's own name, for people.
    further: the modules that it needs after the pooling; these are not supported.
    """

    name: str
    path: Path
    tokenizer: Path
    pooling: Pooling
    query_prefix: str
    passage_prefix: str
    tokens_max: int
    further: tuple[str, ...]

    def digest(self) -> str:
        """16 hex digits, of everything that determines a vector; reads the whole files."""
        options = (self.pooling, self.query_prefix, self.passage_prefix, self.tokens_max)
        digest = sha256(repr(options).encode())
        # Weights may be in files beside the model: model.onnx_data, model.onnx.data.
        for path in (*sorted(self.path.parent.glob(f"{self.path.name}*")), self.tokenizer):
            with path.open("rb") as file:
                digest.update(file_digest(file, "sha256").digest())
        return digest.hexdigest()[:16]


def require_runtime(subject: str) -> None:
    """Raises `CommandError` if the packages that run models are not installed."""
    if find_spec("onnxruntime") is None:
        raise CommandError(f"{subject} needs the extra: pip install '.[onnx]' in a checkout")


def read(folder: Path) -> OnnxModel:
    """Read the folder. Raises `EmbedderRefused`."""
    if not folder.is_dir():
        raise EmbedderRefused(f"there is no folder {folder}")
    tokenizer = folder / "tokenizer.json"
    if not tokenizer.is_file():
        raise EmbedderRefused(f"{folder} has no tokenizer.json")
    query, passage = _prompts(folder)
    return OnnxModel(
        name=_name(folder),
        path=_model(folder),
        tokenizer=tokenizer,
        pooling=_pooling(folder),
        query_prefix=query,
        passage_prefix=passage,
        tokens_max=min([TOKENS_MAX, *_lengths(folder)]),
        further=tuple(_further(folder)),
    )


def _model(folder: Path) -> Path:
    for parent in (folder, folder / "onnx"):
        if (parent / "model.onnx").is_file():
            return parent / "model.onnx"
    models = sorted([*folder.glob("*.onnx"), *folder.glob("onnx/*.onnx")])
    if len(models) == 1:
        return models[0]
    if not models:
        raise EmbedderRefused(f"{folder} has no *.onnx, and neither has its folder onnx")
    names = ", ".join(str(path.relative_to(folder)) for path in models)
    raise EmbedderRefused(f"{folder} has several models: rename one of {names} to model.onnx")


def _name(folder: Path) -> str:
    name_or_path = str(_read_object(folder / "config.json").get("_name_or_path") or "")
    return Path(name_or_path).name[:64] or "model"


def _prompts(folder: Path) -> tuple[str, str]:
    """The prefixes of queries and of passages."""
    prompts = _read_object(folder / "config_sentence_transformers.json").get("prompts")
    if not isinstance(prompts, dict):
        return "", ""
    passage = prompts.get("passage") or prompts.get("document")
    return str(prompts.get("query") or ""), str(passage or "")


def _pooling(folder: Path) -> Pooling:
    config = _read_object(folder / "1_Pooling" / "config.json")
    modes = config.get("pooling_mode") or [
        key.removeprefix("pooling_mode_")
        for key, is_enabled in config.items()
        if key.startswith("pooling_mode_") and is_enabled
    ]
    names = [modes] if isinstance(modes, str) else modes or ["mean"]
    if len(names) > 1 or names[0] not in _POOLINGS or not config.get("include_prompt", True):
        raise EmbedderRefused(
            f"the pooling of {folder / '1_Pooling'} is not supported: its config.json may name "
            f"one of {', '.join(_POOLINGS)}"
        )
    return _POOLINGS[names[0]]


def _lengths(folder: Path) -> Iterator[int]:
    """The maximal tokens of a text: the recommended number, or else the possible ones."""
    recommended = _read_object(folder / "sentence_bert_config.json").get("max_seq_length")
    lengths = (
        [recommended]
        if recommended
        else [
            _read_object(folder / "tokenizer_config.json").get("model_max_length"),
            _read_object(folder / "config.json").get("max_position_embeddings"),
        ]
    )
    yield from (int(length) for length in lengths if isinstance(length, int | float))


def _further(folder: Path) -> Iterator[str]:
    for module in _read_json(folder / "modules.json", list):
        name = str(dict(module).get("type")).rpartition(".")[2]
        if name not in _SUPPORTED_MODULES:
            yield name


def _read_object(path: Path) -> Mapping[str, Any]:
    return _read_json(path, dict)


def _read_json(path: Path, form: type[T]) -> T:
    """The JSON value of the file; an empty one if the file does not exist."""
    if not path.is_file():
        return form()
    try:
        value = json.loads(path.read_bytes())
    except ValueError as error:
        raise EmbedderRefused(f"{path} is not JSON: {error}") from None
    if not isinstance(value, form):
        raise EmbedderRefused(f"{path} is not a JSON {'object' if form is dict else 'array'}")
    return value
