"""The files of the static model, which the `wordllama` wheel contains.

They are read without importing the package: its import sets up root logging and loads an HTTP
client that is not needed. Its compiled modules are not used, so a wheel for another machine or
another Python has the same files.
"""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from index.errors import EmbedderRefused

NAME = "l2_supercat"
DIMENSIONS = 256


def weights() -> Path:
    """Raises `EmbedderRefused`."""
    return _folder() / "weights" / f"{NAME}_{DIMENSIONS}.safetensors"


def tokenizer() -> Path:
    """Raises `EmbedderRefused`."""
    return _folder() / "tokenizers" / f"{NAME}_tokenizer_config.json"


def check() -> None:
    """Raises `EmbedderRefused` unless both files exist."""
    for path in (weights(), tokenizer()):
        if not path.is_file():
            raise EmbedderRefused(f"the static model lacks {path}: reinstall wordllama")


def _folder() -> Path:
    try:
        return Path(str(distribution("wordllama").locate_file("wordllama")))
    except PackageNotFoundError:
        raise EmbedderRefused(
            "the static model is not installed, because wordllama has no wheel for this machine: "
            "docs/operations/embedders.md has the command that installs its files"
        ) from None
