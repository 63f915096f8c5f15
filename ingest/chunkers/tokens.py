"""The cut into overlapping windows of so many tokens.

Tokens are those of the tokenizer in the `wordllama` wheel, Llama 2's, whatever embeds: a cut that
moved with the embedder would make another document of each.
"""

from functools import cache
from importlib.metadata import distribution

from tokenizers import Tokenizer

from ingest.chunkers.chunk import Chunk, chunk_of


def chunks(text: str, size: int, overlap: int) -> list[Chunk]:
    """Windows of `size` tokens, the last one of fewer; each begins `overlap` before the last's end.

    A window ends where a token does, be it within a word.
    """
    begins = token_begins(text)
    bounds = [*begins, len(text)]
    windows = range(0, max(len(begins) - overlap, 1), size - overlap)
    found = (
        chunk_of(text, bounds[first], bounds[min(first + size, len(begins))]) for first in windows
    )
    return [chunk for chunk in found if chunk]


def token_begins(text: str) -> list[int]:
    """Where each token begins, ascending; several at one place are the bytes of one character."""
    return [start for start, _ in _tokenizer().encode(text, add_special_tokens=False).offsets]


def load() -> None:
    """Read the tokenizer now: a tenth of a second, and 16 MB."""
    _tokenizer()


@cache
def _tokenizer() -> Tokenizer:
    wheel = distribution("wordllama").locate_file("wordllama")
    return Tokenizer.from_file(f"{wheel}/tokenizers/l2_supercat_tokenizer_config.json")
