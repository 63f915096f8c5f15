"""Decides by words and phrases whether a message is a question for the documents.

A gate that closes too often leaves questions unanswered, so by default an undecided message passes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Literal, TypeAlias

from index.text import lexical

BUILT_IN = ("support",)
LANGUAGES = ("en", "es", "pt")
_Phrases: TypeAlias = Mapping[str, Sequence[tuple[str, ...]]]
_QUESTION_MARKS = ("?", "？", "؟")  # noqa: RUF001  other scripts' own


@dataclass(frozen=True, slots=True)
class GateWords:
    """open: words and phrases that open the gate, because only questions contain them.

    closed: small talk. default: the result for a message that contains other words only.
    """

    open: tuple[str, ...]
    closed: tuple[str, ...]
    default: Literal["open", "closed"] = "open"


@dataclass(frozen=True, slots=True)
class GateDecision:
    """Whether a message passes the gate, and what decided it."""

    is_open: bool
    reason: Literal["question", "words", "default", "small-talk"]

    @property
    def header(self) -> str:
        return f"{'open' if self.is_open else 'closed'}; {self.reason}"


def classify(message: str, words: GateWords) -> GateDecision:
    """Remove small talk from the message; the words that are left decide.

    Case, accents and punctuation are ignored, except that a question mark opens the gate.
    """
    message_words = lexical.words(message)
    words_left = list(_without(message_words, _phrases(words.closed)))
    if not words_left:
        return GateDecision(False, "small-talk")
    if any(mark in message for mark in _QUESTION_MARKS):
        return GateDecision(True, "question")
    if len(list(_without(words_left, _phrases(words.open)))) < len(words_left):
        return GateDecision(True, "words")
    return GateDecision(words.default == "open", "default")


def parse_stored(stored: Mapping[str, Any]) -> GateWords:
    return GateWords(tuple(stored["open"]), tuple(stored["closed"]), stored["default"])


@cache
def default_words(name: str) -> GateWords:
    """The words of a built-in gate in all languages. Does blocking I/O at the first call."""
    folder = resources.files(__package__)
    lists: dict[str, list[str]] = {"open": [], "closed": []}
    for language in LANGUAGES:
        section = ""
        text = (folder / f"{name}.{language}.txt").read_text(encoding="utf-8")
        for line in map(str.strip, text.splitlines()):
            if line.startswith("["):
                section = line.strip("[]")
            elif line:
                lists[section].append(line)
    return GateWords(tuple(dict.fromkeys(lists["open"])), tuple(dict.fromkeys(lists["closed"])))


@lru_cache(256)  # lists of tenants
def _phrases(phrases: tuple[str, ...]) -> _Phrases:
    """The phrases as words, by first word, the longest first."""
    by_first_word: dict[str, set[tuple[str, ...]]] = {}
    for phrase in phrases:
        if words := tuple(lexical.words(phrase)):
            by_first_word.setdefault(words[0], set()).add(words)
    return {first: sorted(group, key=len, reverse=True) for first, group in by_first_word.items()}


def _without(words: Sequence[str], phrases: _Phrases) -> Iterator[str]:
    """The words that are not part of a phrase."""
    position = 0
    while position < len(words):
        for phrase in phrases.get(words[position], ()):
            if tuple(words[position : position + len(phrase)]) == phrase:
                position += len(phrase)
                break
        else:
            yield words[position]
            position += 1
