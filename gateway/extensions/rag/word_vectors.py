"""The built-in model's vectors of words, whatever embeds the documents."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from index.embedders import static_model
from index.embedders.text_tokens import WholeTextTokens
from index.embedders.token_table import TokenTable
from index.text.memo import Memo

_WORDS_MAX = 16_384  # 18 MB


class WordVectors:
    """By word from memory, since most words come again."""

    def __init__(self) -> None:
        """Raises `EmbedderRefused` if the model is not installed."""
        tokens = WholeTextTokens(static_model.load_tokenizer())
        table = TokenTable(static_model.load_table(), tokens)
        self._by_word = Memo(lambda word: table.embed_inline([word])[0], _WORDS_MAX)

    def of(self, words: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector for each word, shape (words, dimensions); there is at least one word."""
        places = {word: place for place, word in enumerate(dict.fromkeys(words))}
        vectors = np.stack([self._by_word[word] for word in places])
        return vectors[[places[word] for word in words]]
