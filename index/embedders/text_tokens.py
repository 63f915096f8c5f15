"""The tokens of texts: of whole texts by a tokenizer, or by word from memory."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from tokenizers import Tokenizer

from index.text.memo import Memo

BATCH_TEXTS = 64  # bounds the memory of the tokenizer
WORDS_MAX = 65_536  # about 20 MB

_SPACE = "\u2581"  # what the tokenizer makes of a space; so it is one in a text too
_SPECIAL = "<"  # begins a token that stands for no text, such as <s>


class WholeTextTokens:
    """The tokens as the tokenizer gives them, without those that it adds to each text."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def of_text(self, text: str) -> Sequence[int]:
        """Faster for a single text than a batch: no threads to wake."""
        tokens: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return tokens

    def of_texts(self, texts: Sequence[str]) -> Iterator[Sequence[int]]:
        for start in range(0, len(texts), BATCH_TEXTS):
            batch = texts[start : start + BATCH_TEXTS]
            for encoding in self._tokenizer.encode_batch_fast(batch, add_special_tokens=False):
                yield encoding.ids


class WordTokens:
    """The same tokens, by word from memory: a tenth of the time for words that come again.

    whole: of a tokenizer that puts a space before each word, and of which no token has a space
           after another character. So the tokens of a text are those of its words.
    """

    def __init__(self, whole: WholeTextTokens) -> None:
        self._whole = whole
        self._by_word = Memo(whole.of_text, WORDS_MAX)

    def of_text(self, text: str) -> Sequence[int]:
        words = text.split(" ")
        if "" in words or _SPACE in text or _SPECIAL in text:  # several spaces can be one token
            return self._whole.of_text(text)
        return [*chain.from_iterable(map(self._by_word.__getitem__, words))]

    def of_texts(self, texts: Sequence[str]) -> Iterable[Sequence[int]]:
        return map(self.of_text, texts)
