"""Detects the language of a text from its frequent words; pure, and without a model.

The words are in `common_words.txt`, as the index compares them; they are read at import.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from itertools import chain, repeat
from operator import attrgetter, itemgetter

from index.text.tokens import PIECES

CHARACTERS_MAX = 4_000  # of a text, later ones are ignored: 600 words show its language
# Measured in docs/design/words.md#languages-are-detected-when-nobody-declares-them.
SURE_WORDS_MIN = 3
SURE_RATIO_MIN = 1.2

_WORDS = attrgetter("words")  # of a `Piece`


def detect(text: str) -> str | None:
    """The language of the text, one of the six that have word lists; None if it does not show."""
    return _clear(_most_common(_votes_of(text))) or None


def detect_surely(text: str) -> str | None:
    """The language of a document's text; None unless enough words show it, and no other as much."""
    (language, words), (_, next_words) = _most_common(_votes_of(text))
    sure = words >= SURE_WORDS_MIN and words >= SURE_RATIO_MIN * next_words
    return language if sure else None


def detect_from_words(words: Sequence[str]) -> str:
    """The language with the most of these words among its common ones; empty for none, or a tie."""
    return _clear(_most_common(_votes(words)))


def is_common(word: str, language: str) -> bool:
    """Whether the word is one of the language's common ones, which name nothing."""
    return language in LANGUAGES_BY_WORD.get(word, ())


def _votes_of(text: str) -> Iterable[str]:
    """For each word of the text's beginning, each language in which it is common."""
    pieces = map(PIECES.__getitem__, text[:CHARACTERS_MAX].split())
    return _votes(chain.from_iterable(map(_WORDS, pieces)))


def _votes(words: Iterable[str]) -> Iterable[str]:
    return chain.from_iterable(map(LANGUAGES_BY_WORD.get, words, repeat(())))


def _most_common(votes: Iterable[str]) -> list[tuple[str, int]]:
    """The two languages with the most votes, most first, each with their number."""
    ranked = sorted(Counter(votes).items(), key=itemgetter(1), reverse=True)
    return [*ranked, ("", 0), ("", 0)][:2]


def _clear(most_common: list[tuple[str, int]]) -> str:
    """The language with the most votes; empty for none, or a tie."""
    (code, most), (_, next_most) = most_common
    return code if most > next_most else ""


def _languages_by_word() -> Mapping[str, Sequence[str]]:
    text = (resources.files(__package__) / "common_words.txt").read_text(encoding="utf-8")
    languages: defaultdict[str, list[str]] = defaultdict(list)
    code = ""
    for line in text.splitlines():
        if line.startswith("["):
            code = line.strip("[]")
        elif not line.startswith("#"):
            for word in line.split():
                languages[word].append(code)
    return dict(languages)


LANGUAGES_BY_WORD = _languages_by_word()
