"""Vectors of the static model that Nearhit embeds by, from the package that carries it."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """One unit vector a text, shape (texts, 256)."""
    vectors: NDArray[np.float32] = _model().embed(list(texts), norm=True)
    return vectors


@cache
def _model() -> Any:
    import wordllama  # takes long

    folder = Path(wordllama.__file__).parent  # its weights and its tokenizer lie there
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
