"""Guards: whether two questions may share an answer, judged by their words.

Each guard compares one feature and objects if it differs. Guards are heuristics: how often
questions that pass them get equal answers is measured, see `error_limit.py`.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from unicodedata import normalize

from gateway.extensions.similar_questions import entities
from gateway.extensions.similar_questions.words import antonyms, function_words
from index.text import language_detection, lexical

# Frequencies of a word, in all its forms, in the language; from pairs of seven public sets.
RARE_SHARE = 1e-5  # below it a word is a name or a term without synonyms
WORD_SHARE = 3e-4  # below it a word carries meaning; above it are what, does, many, called
AGREEMENT_MIN = 0.92  # of the weight of all words, which also adds up those above WORD_SHARE
ORDERED_MAX = 64  # words, beyond which any other order is another question
_WEIGHTLESS = 1 / 150  # the share of a word that a text of 150 words holds once


@dataclass(frozen=True, slots=True)
class Features:
    """The features of a question that the guards compare.

    language: detected from function words; empty if unknown.
    asks:     thing, person, time, place, reason, manner or quantity.
    antonym_sides: by pair of antonyms, the sides that the question contains, in order.
    directions: by word such as from and to, the words after it.
    words:    stems, each with its frequency in the language.
    order:    the stems of all words, in order.
    """

    language: str
    asks: str
    numbers: tuple[str, ...]
    units: frozenset[str]
    dates: frozenset[str]
    negations: tuple[str, ...]
    antonym_sides: Mapping[str, tuple[bool, ...]]
    directions: Mapping[str, frozenset[str]]
    codes: frozenset[str]
    words: Mapping[str, float]
    order: tuple[str, ...]


def features(text: str, languages: Collection[str]) -> Features:
    """The features of a text, in time linear in its length.

    languages: those that the index analyses.
    """
    text = normalize("NFKC", text)
    words = lexical.words(text)
    language = language_detection.detect_from_words(words)
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
        antonym_sides=antonyms.antonym_sides(words, reading_language),
        directions=antonyms.directions(words, reading_language, language_detection.is_common),
        codes=entities.codes(text),
        words={
            lexical.stem(word, stem_language): lexical.word_share(word, stem_language)
            for word in words
            if word.isalpha() and word not in function_words.ignored_words(reading_language)
        },
        order=tuple(lexical.stem(word, stem_language) for word in words),
    )


def objections(cached: Features, new: Features) -> Iterator[str]:
    """The names of the guards that object to serving the cached question's answer."""
    return (guard for guard, objects in GUARDS.items() if objects(cached, new))


def may_share(cached: Features, new: Features) -> bool:
    """Whether no guard objects."""
    return not any(objections(cached, new))


def _has_other_language(cached: Features, new: Features) -> bool:
    return bool(cached.language and new.language) and cached.language != new.language


def _has_other_antonym(cached: Features, new: Features) -> bool:
    """Such as before and after; applies only if both questions have a side of the pair."""
    return any(
        new.antonym_sides.get(pair, sides) != sides for pair, sides in cached.antonym_sides.items()
    )


def _has_other_direction(cached: Features, new: Features) -> bool:
    """Such as from A to B and from B to A; applies only if both questions have the word."""
    return any(
        new.directions.get(word, following) != following
        for word, following in cached.directions.items()
    )


def _has_other_order(cached: Features, new: Features) -> bool:
    """Such as Ana pays Bo and Bo pays Ana; applies to the words that both questions have.

    Two parts have changed places around a third. Side by side they may: to Paris from Rome.
    """
    both = set(cached.order) & set(new.order)
    before = [word for word in cached.order if word in both]
    after = [word for word in new.order if word in both]
    start = _beginning(before, after)
    before, after = before[start:], after[start:]
    end = _beginning(before[::-1], after[::-1])
    before, after = before[: len(before) - end], after[: len(after) - end]
    size = len(before)
    if max(size, len(after)) > ORDERED_MAX:
        return True
    return any(
        after == before[last:] + before[first:last] + before[:first]
        for first in range(1, size)
        for last in range(first + 1, size)
    )


def _beginning(before: Sequence[str], after: Sequence[str]) -> int:
    """How many words are the same at the beginning of both."""
    differing = (place for place, (x, y) in enumerate(zip(before, after, strict=False)) if x != y)
    return next(differing, min(len(before), len(after)))


def _has_other_rare_word(cached: Features, new: Features) -> bool:
    return any(share < RARE_SHARE for share in _differing(cached.words, new.words))


def _has_other_word(cached: Features, new: Features) -> bool:
    """Whether a meaningful word differs, or too much of the weight of all words."""
    differing = _differing(cached.words, new.words)
    if any(RARE_SHARE <= share < WORD_SHARE for share in differing):
        return True
    cached_weight = sum(map(_weight, cached.words.values()))
    new_weight = sum(map(_weight, new.words.values()))
    both = cached.words.keys() & new.words.keys()  # of two languages a stem has two shares
    common = sum(min(_weight(cached.words[stem]), _weight(new.words[stem])) for stem in both)
    return common < AGREEMENT_MIN * max(cached_weight, new_weight)


def _differing(words: Mapping[str, float], others: Mapping[str, float]) -> list[float]:
    missing = [share for stem, share in words.items() if stem not in others]
    return missing + [share for stem, share in others.items() if stem not in words]


def _weight(share: float) -> float:
    """The word's inverse frequency, about as the lexical leg weighs it."""
    return max(log(_WEIGHTLESS / max(share, 1e-7)), 0.0)


GUARDS: Mapping[str, Callable[[Features, Features], bool]] = {
    "language": _has_other_language,
    "question": lambda cached, new: cached.asks != new.asks,
    "number": lambda cached, new: cached.numbers != new.numbers,
    "unit": lambda cached, new: cached.units != new.units,
    "date": lambda cached, new: cached.dates != new.dates,
    "negation": lambda cached, new: cached.negations != new.negations,
    "opposite": _has_other_antonym,
    "way": _has_other_direction,
    "order": _has_other_order,
    "code": lambda cached, new: cached.codes != new.codes,
    "rare": _has_other_rare_word,
    "word": _has_other_word,
}
