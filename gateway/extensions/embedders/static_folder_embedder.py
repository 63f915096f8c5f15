"""Embeds with a static model from a folder: a table of word pieces, without running a model.

The folder is that of `model2vec`, or that of a `StaticEmbedding` of sentence-transformers:

model.safetensors, or that in the folder 0_StaticEmbedding
    embeddings or embedding.weight   a row a token, or a row that several tokens share
    weights                          of each token; 1 if absent
    mapping                          the row of each token; its own if absent
tokenizer.json, beside it
config.json                          `tokenizer_name` or `_name_or_path`, for people
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from index.embedders import token_table
from index.embedders.text_tokens import WholeTextTokens
from index.embedders.token_table import TokenTable
from index.embedders.vectors import DIMENSIONS_MAX
from index.errors import EmbedderRefused

ALPHA = 0.25  # as the built-in model's; not measured with others
TABLE_NUMBERS_MAX = 512_000_000  # 2 GB in memory
_TABLES = ("embeddings", "embedding.weight")
_FOLDERS = ("", "0_StaticEmbedding")


class StaticFolderEmbedder:
    """space: depends on the contents of the model's files, not on their path.

    confident_score: not known of a model that somebody else chose.
    """

    alpha = ALPHA
    confident_score = None
    tokens_max = token_table.TOKENS_MAX
    batch_texts_max = token_table.BATCH_TEXTS_MAX

    def __init__(self, folder: Path) -> None:
        """Raises `EmbedderRefused`."""
        files = find(folder)
        tokenizer = _tokenizer(files / "tokenizer.json")
        table = _table(files / "model.safetensors", tokens=_token_count(tokenizer))
        self._table = TokenTable(
            table, WholeTextTokens(tokenizer), ignored=_unknown_token(tokenizer)
        )
        self.dimensions = table.shape[1]
        self.space = f"static-{_name(files)}-{_digest(files)}"

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """The text's unit vector; the model embeds queries and passages alike."""
        return await self._table.embed_query(text)

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector for each text, shape (texts, dimensions); also for an empty text."""
        return await self._table.embed_passages(texts)


def find(folder: Path) -> Path:
    """The folder that holds the two files. Raises `EmbedderRefused`."""
    if not folder.is_dir():
        raise EmbedderRefused(f"there is no folder {folder}")
    for name in _FOLDERS:
        files = folder / name
        if (files / "model.safetensors").is_file():
            if not (files / "tokenizer.json").is_file():
                raise EmbedderRefused(f"{files} has no tokenizer.json")
            return files
    raise EmbedderRefused(f"{folder} has no model.safetensors, and neither has {_FOLDERS[1]} in it")


def _tokenizer(path: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library's exceptions have no common base
        raise EmbedderRefused(f"{path} cannot be read: {error}") from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _token_count(tokenizer: Tokenizer) -> int:
    return 1 + max(tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)


def _unknown_token(tokenizer: Tokenizer) -> int | None:
    """The token of what the tokenizer does not know; its vector says nothing."""
    name = json.loads(tokenizer.to_str())["model"].get("unk_token")
    return None if name is None else tokenizer.token_to_id(name)


def _table(path: Path, *, tokens: int) -> NDArray[np.float32]:
    """The vector of each token, times its weight. Raises `EmbedderRefused`."""
    try:
        tensors = load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise EmbedderRefused(f"{path} cannot be read: {error}") from None
    name = next((name for name in _TABLES if name in tensors), None)
    if name is None:
        raise EmbedderRefused(f"{path} has none of the tensors {', '.join(_TABLES)}")
    rows = tensors[name]
    if rows.ndim != 2 or not 0 < rows.shape[1] <= DIMENSIONS_MAX or not tokens:
        raise EmbedderRefused(
            f"{path}: {name} must have a row a token of 1 to {DIMENSIONS_MAX:,} numbers"
        )
    mapping = tensors.get("mapping", np.arange(tokens))[:tokens]
    if len(mapping) < tokens or not 0 <= mapping.min() <= mapping.max() < len(rows):
        raise EmbedderRefused(f"{path} has no vector for some of the {tokens:,} tokens")
    if tokens * rows.shape[1] > TABLE_NUMBERS_MAX:
        raise EmbedderRefused(f"{path} is larger than {TABLE_NUMBERS_MAX:,} numbers")
    table: NDArray[np.float32] = rows[mapping].astype(np.float32)
    if "weights" in tensors:
        weights = tensors["weights"]
        if weights.shape != (len(weights),) or len(weights) < tokens:
            raise EmbedderRefused(f"{path} has no weight for some of the {tokens:,} tokens")
        table *= weights[:tokens, np.newaxis].astype(np.float32)
    if not np.isfinite(table).all():
        raise EmbedderRefused(f"{path} has numbers that are not finite")
    return table


def _name(files: Path) -> str:
    """The model's own name, for people."""
    path = files / "config.json"
    try:
        config: Any = json.loads(path.read_bytes()) if path.is_file() else {}
    except ValueError as error:
        raise EmbedderRefused(f"{path} is not JSON: {error}") from None
    names: Mapping[str, Any] = config if isinstance(config, dict) else {}
    name = names.get("tokenizer_name") or names.get("_name_or_path")
    return Path(str(name)).name[:64] if name else "model"


def _digest(files: Path) -> str:
    """16 hexadecimal digits, of all that determines a vector; reads the whole files."""
    digest = sha256()
    for name in ("model.safetensors", "tokenizer.json"):
        with (files / name).open("rb") as file:
            digest.update(file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]
