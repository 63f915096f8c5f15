"""Guards: whether two questions may share an answer, judged by their words.

Each guard compares one feature and objects if it differs. Guards are heuristics: how often
questions that pass them get equal answers is measured, see `cache/semantic/similarity_buckets.py`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Literal, Protocol, TypeAlias, get_args
from unicodedata import normalize

from cache.semantic import antonyms, entities, function_words

Guard: TypeAlias = Literal[
    "language",
    "question",
    "number",
    "unit",
    "date",
    "negation",
    "opposite",
    "way",
    "code",
    "rare",
    "word",
]
GUARDS: tuple[Guard, ...] = get_args(Guard)

# Frequencies of a word, in all its forms, in the whole language; from `loadtests.bench_semantic`.
RARE_SHARE = 1e-5  # below it a word is a name or a term without synonyms
WORD_SHARE = 3e-4  # below it a word carries meaning; above it are what, does, many, called
AGREEMENT_MIN = 0.92  # of the weight of all words, which also adds up those above WORD_SHARE
_WEIGHTLESS = 1 / 150  # the share of a word that a text of 150 words holds once


class WordFrequencies(Protocol):
    """The words of texts, as they are searched for."""

    def words(self, text: str, /) -> Sequence[str]:
        """In order, without accents and case."""

    def stem(self, word: str, language: str, /) -> str: ...

    def share(self, word: str, language: str, /) -> float:
        """Of the word, in all its forms, of all words in the language at large; 0 if unlisted."""


@dataclass(frozen=True, slots=True)
class Features:
    """The features of a question that the guards compare.

    language: detected from function words; empty if unknown.
    asks:     thing, person, time, place, reason, manner or quantity.
    poles:    by pair of antonyms, the sides that the question contains, in order.
    ways:     by directional word such as from and to, the words after it.
    words:    stems, each with its frequency in the language.
    """

    language: str
    asks: str
    numbers: tuple[str, ...]
    units: frozenset[str]
    dates: frozenset[str]
    negations: tuple[str, ...]
    poles: Mapping[str, tuple[bool, ...]]
    ways: Mapping[str, frozenset[str]]
    codes: frozenset[str]
    words: Mapping[str, float]


def features(text: str, languages: Collection[str], lexicon: WordFrequencies) -> Features:
    """The features of a text, in time linear in its length.

    languages: those that the index analyses.
    """
    text = normalize("NFKC", text)
    words = lexicon.words(text)
    language = function_words.language(words)
    stem_language = language if language in languages else min(languages, default="")
    reading_language = language or stem_language
    numbers = [*entities.numbers(text), *function_words.numbers(words, reading_language)]
    return Features(
        language=language,
        asks=function_words.asks(words, reading_language),
        numbers=tuple(sorted(numbers)),
        units=entities.units(text) | function_words.units(words),
        dates=function_words.dates(words, reading_language),
        negations=function_words.negations(words, reading_language),
        poles=antonyms.antonym_sides(words, reading_language),
        ways=antonyms.directions(words, reading_language),
        codes=entities.codes(text),
        words={
            lexicon.stem(word, stem_language): lexicon.share(word, stem_language)
            for word in words
            if word.isalpha() and word not in function_words.strip_function_words(reading_language)
        },
    )


def objections(cached: Features, asked: Features) -> frozenset[Guard]:
    """The guards that object to serving the cached question's answer."""
    return frozenset(guard for guard in GUARDS if _OBJECTS[guard](cached, asked))


def may_share(cached: Features, asked: Features) -> bool:
    """Whether no guard objects."""
    return not any(objects(cached, asked) for objects in _OBJECTS.values())


def _another_language(cached: Features, asked: Features) -> bool:
    return bool(cached.language and asked.language) and cached.language != asked.language


def _another_pole(cached: Features, asked: Features) -> bool:
    """Such as before and after; applies only if both questions have a side of the pair."""
    return any(asked.poles.get(axis, sides) != sides for axis, sides in cached.poles.items())


def _another_way(cached: Features, asked: Features) -> bool:
    """Such as from A to B and from B to A; applies only if both questions have the word."""
    return any(
        asked.ways.get(way, following) != following for way, following in cached.ways.items()
    )


def _another_rare_word(cached: Features, asked: Features) -> bool:
    return any(share < RARE_SHARE for share in _differing(cached.words, asked.words))


def _another_word(cached: Features, asked: Features) -> bool:
    """Whether a meaningful word differs, or too much of the weight of all words."""
    differing = _differing(cached.words, asked.words)
    if any(RARE_SHARE <= share < WORD_SHARE for share in differing):
        return True
    cached_weight = sum(map(_weight, cached.words.values()))
    asked_weight = sum(map(_weight, asked.words.values()))
    both = cached.words.keys() & asked.words.keys()  # of two languages a stem has two shares
    common = sum(min(_weight(cached.words[stem]), _weight(asked.words[stem])) for stem in both)
    return common < AGREEMENT_MIN * max(cached_weight, asked_weight)


def _differing(words: Mapping[str, float], others: Mapping[str, float]) -> list[float]:
    missing = [share for stem, share in words.items() if stem not in others]
    return missing + [share for stem, share in others.items() if stem not in words]


def _weight(share: float) -> float:
    """The word's inverse frequency, about as the lexical leg weighs it."""
    return max(log(_WEIGHTLESS / max(share, 1e-7)), 0.0)


_OBJECTS = {
    "language": _another_language,
    "question": lambda cached, asked: cached.asks != asked.asks,
    "number": lambda cached, asked: cached.numbers != asked.numbers,
    "unit": lambda cached, asked: cached.units != asked.units,
    "date": lambda cached, asked: cached.dates != asked.dates,
    "negation": lambda cached, asked: cached.negations != asked.negations,
    "opposite": _another_pole,
    "way": _another_way,
    "code": lambda cached, asked: cached.codes != asked.codes,
    "rare": _another_rare_word,
    "word": _another_word,
}
