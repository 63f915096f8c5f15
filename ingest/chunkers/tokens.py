"""The chunker by tokens: overlapping windows of consecutive tokens.

The tokenizer is always the static model's, Llama 2's: if it were the embedder's, a new embedder
would change the chunks of every document.
"""

from index.embedders import static_model
from ingest.chunkers.chunk import Chunk, chunk_of


def chunks(text: str, size: int, overlap: int) -> list[Chunk]:
    """Windows of `size` tokens; the last may have fewer. A window repeats the last `overlap` tokens
    of the window before it.

    A window may end within a word. A window that adds only whitespace is omitted.
    """
    begins = token_begins(text)
    bounds = [*begins, len(text)]
    windows: list[Chunk] = []
    for first in range(0, max(len(begins) - overlap, 1), size - overlap):
        window = chunk_of(text, bounds[first], bounds[min(first + size, len(begins))])
        if window and (not windows or window.end > windows[-1].end):
            windows.append(window)
    return windows


def token_begins(text: str) -> list[int]:
    """Where each token begins, ascending; the bytes of one character begin at one position."""
    return [
        start
        for start, _ in static_model.load_tokenizer().encode(text, add_special_tokens=False).offsets
    ]


def load() -> None:
    """Load the tokenizer."""
    static_model.load_tokenizer()
