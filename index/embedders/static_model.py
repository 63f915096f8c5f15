"""The files of the static model, which the `wordllama` wheel contains.

They are read without importing the package: its import sets up root logging and loads an HTTP
client that is not needed. Its compiled modules are not used, so a wheel for another machine or
another Python has the same files.
"""

from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

from index.errors import EmbedderRefused

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

NAME = "l2_supercat"
DIMENSIONS = 256


def weights() -> Path:
    """Raises `EmbedderRefused`."""
    return _folder() / "weights" / f"{NAME}_{DIMENSIONS}.safetensors"


def tokenizer() -> Path:
    """Raises `EmbedderRefused`."""
    return _folder() / "tokenizers" / f"{NAME}_tokenizer_config.json"


@cache
def load_table() -> "NDArray[np.float32]":
    """A row for each token, which the embedders of a process share: a tenth of a second, 32 MB.

    Raises `EmbedderRefused`.
    """
    import numpy as np  # a gateway with another embedder loads neither
    from safetensors.numpy import load_file

    table: NDArray[np.float32] = load_file(weights())["embedding.weight"].astype(np.float32)
    table.flags.writeable = False
    return table


@cache
def load_tokenizer() -> "Tokenizer":
    """The one that embedders and the chunker of a process share: a tenth of a second, 16 MB.

    Raises `EmbedderRefused`.
    """
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(tokenizer()))


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
