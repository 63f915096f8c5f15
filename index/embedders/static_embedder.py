"""The built-in embedder: a table of word pieces, without running a model.

The table and the tokenizer are files; see `index/embedders/static_model.py`.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from index.embedders import static_model, token_table
from index.embedders.text_tokens import WholeTextTokens, WordTokens
from index.embedders.token_table import TokenTable


class StaticEmbedder:
    """space: the same for all releases of the wheel, which never change a published model.

    alpha: in the middle of a plateau of the mean nDCG@10 over nine public sets, 0.2 to 0.4.
    confident_score: measured in docs/design/agents.md#an-honest-i-dont-know.
    """

    dimensions = static_model.DIMENSIONS
    space = f"wordllama-{static_model.NAME}-{dimensions}"
    alpha = 0.25
    confident_score = 0.25
    tokens_max = token_table.TOKENS_MAX
    batch_texts_max = token_table.BATCH_TEXTS_MAX

    def __init__(self) -> None:
        """Raises `EmbedderRefused` if the model is not installed."""
        self._table = TokenTable(
            static_model.load_table(),
            WordTokens(WholeTextTokens(static_model.load_tokenizer())),
        )

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """The text's unit vector; the model embeds queries and passages alike."""
        return await self._table.embed_query(text)

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector for each text, shape (texts, dimensions); also for an empty text."""
        return await self._table.embed_passages(texts)
