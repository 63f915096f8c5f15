"""Whether a message is a question for the documents: words and phrases decide.

Whoever closes a gate too often answers nobody, so what nothing is known of goes through.
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
_QUESTION = ("?", "？", "؟")  # noqa: RUF001  other scripts' own


@dataclass(frozen=True, slots=True)
class GateWords:
    """open: what only somebody who asks says. closed: what is said without asking anything.

    default: what becomes of a message with neither.
    """

    open: tuple[str, ...]
    closed: tuple[str, ...]
    default: Literal["open", "closed"] = "open"


@dataclass(frozen=True, slots=True)
class Verdict:
    is_open: bool
    reason: Literal["question", "words", "default", "small-talk"]

    @property
    def header(self) -> str:
        return f"{'open' if self.is_open else 'closed'}; {self.reason}"


def classify(message: str, words: GateWords) -> Verdict:
    """Small talk is taken out of the message first; what is left decides.

    Letters' case, accents and marks don't count, but that a question mark opens.
    """
    said = lexical.words(message)
    left = list(_without(said, _phrases(words.closed)))
    if not left:
        return Verdict(False, "small-talk")
    if any(mark in message for mark in _QUESTION):
        return Verdict(True, "question")
    if len(list(_without(left, _phrases(words.open)))) < len(left):
        return Verdict(True, "words")
    return Verdict(words.default == "open", "default")


def parse_stored(stored: Mapping[str, Any]) -> GateWords:
    return GateWords(tuple(stored["open"]), tuple(stored["closed"]), stored["default"])


@cache
def default_words(name: str) -> GateWords:
    """Of all languages together. Blocks on the disk, the first time."""
    folder = resources.files(__package__) / "gates"
    lists: dict[str, list[str]] = {"open": [], "closed": []}
    for language in LANGUAGES:
        kind = ""
        text = (folder / f"{name}.{language}.txt").read_text(encoding="utf-8")
        for line in map(str.strip, text.splitlines()):
            if line.startswith("["):
                kind = line.strip("[]")
            elif line:
                lists[kind].append(line)
    return GateWords(tuple(dict.fromkeys(lists["open"])), tuple(dict.fromkeys(lists["closed"])))


@lru_cache(256)  # lists of tenants
def _phrases(phrases: tuple[str, ...]) -> _Phrases:
    """By their first word, the longest first."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for phrase in phrases:
        if words := tuple(lexical.words(phrase)):
            found.setdefault(words[0], set()).add(words)
    return {first: sorted(some, key=len, reverse=True) for first, some in found.items()}


def _without(said: Sequence[str], phrases: _Phrases) -> Iterator[str]:
    place = 0
    while place < len(said):
        for phrase in phrases.get(said[place], ()):
            if tuple(said[place : place + len(phrase)]) == phrase:
                place += len(phrase)
                break
        else:
            yield said[place]
            place += 1
