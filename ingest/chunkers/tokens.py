"""The cut into overlapping windows of so many tokens.

Tokens are those of the static model's tokenizer, Llama 2's, whatever embeds: a cut that
moved with the embedder would make another document of each.
"""

from functools import cache

from tokenizers import Tokenizer

from index.embedders import static_model
from ingest.chunkers.chunk import Chunk, chunk_of


def chunks(text: str, size: int, overlap: int) -> list[Chunk]:
    """Windows of `size` tokens, the last one of fewer; each begins `overlap` before the last's end.

    A window ends where a token does, be it within a word. A window that adds only whitespace to the
    one before it is left out.
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
    """Where each token begins, ascending; several at one place are the bytes of one character."""
    return [start for start, _ in _tokenizer().encode(text, add_special_tokens=False).offsets]


def load() -> None:
    """Read the tokenizer now: a tenth of a second, and 16 MB."""
    _tokenizer()


@cache
def _tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(static_model.tokenizer()))
