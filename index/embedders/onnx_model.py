"""A sentence-embedding model in ONNX form, as a folder holds it: its files, and what they say.

The layout is that of sentence-transformers; only the model and the tokenizer have to be there:

model.onnx, onnx/model.onnx        the model, or the only other *.onnx in either place
tokenizer.json                     the tokenizer
1_Pooling/config.json              how tokens' vectors become the text's; by their mean if absent
config_sentence_transformers.json  `prompts`: what stands before a query and before a passage
sentence_bert_config.json, tokenizer_config.json, config.json   the longest text
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from index.errors import EmbedderRefused

T = TypeVar("T")
Pooling: TypeAlias = Literal["mean", "cls", "max", "last", "weighted"]

TOKENS_MAX = 512  # unless asked for more: a chunk has 200 words, and time grows with the square

# By sentence-transformers' names, those of now and those of old. To divide a sum by the root of
# the length leaves it the direction of the mean.
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
_DONE_HERE = {"Transformer", "Pooling", "Normalize"}


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """name:    what it calls itself, for people.
    further: the modules that it wants after the pooling, which are not done here.
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
        """16 hex digits of all that decides on a vector; reads the whole files."""
        said = (self.pooling, self.query_prefix, self.passage_prefix, self.tokens_max)
        digest = sha256(repr(said).encode())
        # Weights may lie beside the model: model.onnx_data, model.onnx.data.
        for path in (*sorted(self.path.parent.glob(f"{self.path.name}*")), self.tokenizer):
            with path.open("rb") as file:
                digest.update(file_digest(file, "sha256").digest())
        return digest.hexdigest()[:16]


def read(
    folder: Path,
    *,
    pooling: Pooling | None = None,
    query_prefix: str | None = None,
    passage_prefix: str | None = None,
    tokens_max: int | None = None,
) -> OnnxModel:
    """What the folder holds; what is given counts more than what the files say.

    Raises `EmbedderRefused`.
    """
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
        pooling=pooling or _pooling(folder),
        query_prefix=query if query_prefix is None else query_prefix,
        passage_prefix=passage if passage_prefix is None else passage_prefix,
        tokens_max=tokens_max or min([TOKENS_MAX, *_lengths(folder)]),
        further=tuple(_further(folder)),
    )


def _model(folder: Path) -> Path:
    for place in (folder, folder / "onnx"):
        if (place / "model.onnx").is_file():
            return place / "model.onnx"
    found = sorted([*folder.glob("*.onnx"), *folder.glob("onnx/*.onnx")])
    if len(found) == 1:
        return found[0]
    if not found:
        raise EmbedderRefused(f"{folder} has no *.onnx, nor has a folder onnx in it")
    names = ", ".join(str(path.relative_to(folder)) for path in found)
    raise EmbedderRefused(f"{folder} has several models: call one of {names} model.onnx")


def _name(folder: Path) -> str:
    called = str(_object(folder / "config.json").get("_name_or_path") or "")
    return Path(called).name[:64] or "model"


def _prompts(folder: Path) -> tuple[str, str]:
    """What stands before a query and before a passage."""
    prompts = _object(folder / "config_sentence_transformers.json").get("prompts")
    if not isinstance(prompts, dict):
        return "", ""
    passage = prompts.get("passage") or prompts.get("document")
    return str(prompts.get("query") or ""), str(passage or "")


def _pooling(folder: Path) -> Pooling:
    config = _object(folder / "1_Pooling" / "config.json")
    named = config.get("pooling_mode") or [
        key.removeprefix("pooling_mode_")
        for key, wanted in config.items()
        if key.startswith("pooling_mode_") and wanted
    ]
    names = [named] if isinstance(named, str) else named or ["mean"]
    if len(names) > 1 or names[0] not in _POOLINGS or not config.get("include_prompt", True):
        raise EmbedderRefused(
            f"{folder / '1_Pooling'} asks for a pooling that is not known here; name one with "
            "NEARHIT_ONNX_POOLING if another will do"
        )
    return _POOLINGS[names[0]]


def _lengths(folder: Path) -> Iterator[int]:
    """The most tokens that the files give a text: what was meant for it, else what could be."""
    meant = _object(folder / "sentence_bert_config.json").get("max_seq_length")
    lengths = (
        [meant]
        if meant
        else [
            _object(folder / "tokenizer_config.json").get("model_max_length"),
            _object(folder / "config.json").get("max_position_embeddings"),
        ]
    )
    yield from (int(length) for length in lengths if isinstance(length, int | float))


def _further(folder: Path) -> Iterator[str]:
    for module in _read(folder / "modules.json", list):
        name = str(dict(module).get("type")).rpartition(".")[2]
        if name not in _DONE_HERE:
            yield name


def _object(path: Path) -> Mapping[str, Any]:
    return _read(path, dict)


def _read(path: Path, form: type[T]) -> T:
    """What the file says in JSON; nothing if it isn't there."""
    if not path.is_file():
        return form()
    try:
        said = json.loads(path.read_bytes())
    except ValueError as error:
        raise EmbedderRefused(f"{path} is no JSON: {error}") from None
    if not isinstance(said, form):
        raise EmbedderRefused(f"{path} holds something else than was expected")
    return said
