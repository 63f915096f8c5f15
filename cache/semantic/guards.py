"""Whether two questions may share an answer, as far as their words can tell.

Each guard looks at one thing that makes answers differ, and objects if it differs. They are sure of
nothing: how often questions that pass them get equal answers is measured, see
`cache/semantic/similarity_buckets.py`.
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

# Shares of a word, in all its forms, of the language at large. Chosen by `loadtests.semantics`.
RARE_SHARE = 1e-5  # below it a word is a name or a term: there is no other word for it
WORD_SHARE = 3e-4  # below it a word says what is asked; above it are what, does, many, called
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
    """What the guards read of a question.

    language: as its small words say, empty if they don't.
    asks:     thing, person, time, place, reason, manner or quantity.
    poles:    by pair of opposites the sides that are named, in order.
    ways:     by word like from and to what is named after it.
    words:    stems, each with its share of the language.
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
    """languages: in which the index analyses the question; the words of others don't count as such.

    Takes time linear in the text.
    """
    text = normalize("NFKC", text)
    words = lexicon.words(text)
    spoken = function_words.language(words)
    stemmed_in = spoken if spoken in languages else min(languages, default="")
    read_in = spoken or stemmed_in
    numbers = [*entities.numbers(text), *function_words.numbers(words, read_in)]
    return Features(
        language=spoken,
        asks=function_words.asks(words, read_in),
        numbers=tuple(sorted(numbers)),
        units=entities.units(text) | function_words.units(words),
        dates=function_words.dates(words, read_in),
        negations=function_words.negations(words, read_in),
        poles=antonyms.antonym_sides(words, read_in),
        ways=antonyms.directions(words, read_in),
        codes=entities.codes(text),
        words={
            lexicon.stem(word, stemmed_in): lexicon.share(word, stemmed_in)
            for word in words
            if word.isalpha() and word not in function_words.strip_function_words(read_in)
        },
    )


def objections(cached: Features, asked: Features) -> frozenset[Guard]:
    """The guards that object to giving the answer of the one question to the other."""
    return frozenset(guard for guard in GUARDS if _OBJECTS[guard](cached, asked))


def may_share(cached: Features, asked: Features) -> bool:
    """Whether no guard objects."""
    return not any(objects(cached, asked) for objects in _OBJECTS.values())


def _another_language(cached: Features, asked: Features) -> bool:
    return bool(cached.language and asked.language) and cached.language != asked.language


def _another_pole(cached: Features, asked: Features) -> bool:
    """Before against after; where only one of the questions has either, other guards judge."""
    return any(asked.poles.get(axis, sides) != sides for axis, sides in cached.poles.items())


def _another_way(cached: Features, asked: Features) -> bool:
    """From one to the other against back again; where only one question says so, others judge."""
    return any(asked.ways.get(way, named) != named for way, named in cached.ways.items())


def _another_rare_word(cached: Features, asked: Features) -> bool:
    return any(share < RARE_SHARE for share in _differing(cached.words, asked.words))


def _another_word(cached: Features, asked: Features) -> bool:
    """Whether a telling word differs, or so many others that they tell something together."""
    differing = _differing(cached.words, asked.words)
    if any(RARE_SHARE <= share < WORD_SHARE for share in differing):
        return True
    ours, theirs = (sum(map(_weight, each.words.values())) for each in (cached, asked))
    both = cached.words.keys() & asked.words.keys()  # of two languages a stem has two shares
    common = sum(min(_weight(cached.words[stem]), _weight(asked.words[stem])) for stem in both)
    return common < AGREEMENT_MIN * max(ours, theirs)


def _differing(one: Mapping[str, float], other: Mapping[str, float]) -> list[float]:
    missing = [share for stem, share in one.items() if stem not in other]
    return missing + [share for stem, share in other.items() if stem not in one]


def _weight(share: float) -> float:
    """About the word's inverse frequency, by which the lexical leg weighs it."""
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
