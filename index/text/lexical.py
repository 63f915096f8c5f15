"""Background BM25: texts as sparse vectors whose inner product is the lexical score.

A chunk's vector says how much of each term it holds, a query's how rare each term is in the
language at large, as a share of all that the query asks for: a score lies between 0 and 1. Neither
looks at another text, so a score says nothing about hidden documents.

The language is hashed into a term's index: one query analysed in several languages is one vector,
in which each chunk meets only the terms of its own language.

Pure, but that the first use of a language reads its word list; see `load`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from heapq import nsmallest
from itertools import chain
from math import log
from operator import itemgetter
from types import MappingProxyType

import Stemmer
import wordfreq
from wordfreq.numbers import digit_freq, smash_numbers

from index.text import tokens
from index.text.memo import Memo

# Vectors of two analysers must never meet: raise it when the same text gives another vector, be it
# through a new release of the stemmer or of the word lists.
ANALYSER = "bm25-2"
DIMENSION = 1_000_000_000  # what pgvector's sparsevec can hold

_SNOWBALL = {
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "pt": "portuguese",
}
UNDETERMINED = "und"  # words as they stand, as common as in all of the languages together
LANGUAGES = frozenset({*_SNOWBALL, UNDETERMINED})

NO_CORRECTIONS: Mapping[str, Sequence[str]] = MappingProxyType({})

CHUNK_TERMS_MAX = 16_000  # what pgvector's sparsevec can hold
QUERY_TERMS_MAX = 64  # in each language; a starting value, not measured

K1 = 0.8  # 0.7 to 0.9 gave a mean nDCG@10 of 0.804 over seven public sets, the customary 1.2 0.801
B = 0.75  # the customary value
CHUNK_WORDS = 200  # L, the length that counts as usual
TEXT_WORDS = 150  # of the text whose chance to hold a term makes the term common or rare
CHANCE_MAX = 0.9  # a term of nine texts in ten tells none apart: leaving it out costs nothing
CHARACTER = 1e-3  # the share of a character of a script without spaces; not measured
RAREST = 1e-7  # the share of a word that no list holds; down to 1e-8 is no better, 1e-6 worse

_MORE, _FEWER, _SPANNED = -1, -2, -3  # counted among terms, none of whose indexes is negative


@dataclass(frozen=True, slots=True)
class Terms:
    """A query's terms, by index.

    weights: what each adds to the score of a chunk, for each one that the chunk's vector says.
    chances: of a text of TEXT_WORDS words of the language at large to hold it, 0 to 1.
    """

    weights: Mapping[int, float]
    chances: Mapping[int, float]


def chunk(text: str, language: str) -> dict[int, float]:
    """Map each term's index to its saturated frequency: tf·(k1+1) / (tf + k1·(1-b + b·len/L)).

    Of more than CHUNK_TERMS_MAX terms the most frequent are kept.

    Source: Robertson, Zaragoza, The Probabilistic Relevance Framework, 2009; L fixed.
    """
    base = base_language(language)
    pieces = text.split()
    counts = Counter(chain.from_iterable(map(_held(base).__getitem__, pieces)))
    length = len(pieces) + counts.pop(_MORE, 0) - counts.pop(_FEWER, 0)
    if counts.pop(_SPANNED, 0) >= tokens.PHONE_DIGITS_MIN:
        counts.update(_index(span, base) for span in tokens.read(text).spans)
    if len(counts) > CHUNK_TERMS_MAX:
        counts = Counter(dict(counts.most_common(CHUNK_TERMS_MAX)))
    norm = K1 * (1 - B + B * length / CHUNK_WORDS)
    saturated = {count: count * (K1 + 1) / (count + norm) for count in set(counts.values())}
    return {index: saturated[count] for index, count in counts.items()}


def query(
    text: str, languages: Collection[str], taken_for: Mapping[str, Sequence[str]] = NO_CORRECTIONS
) -> Terms:
    """Weigh each term, in each of the languages, by its inverse frequency there.

    In each language the weights are scaled so that a chunk that is full of every term scores 1:
    what a chunk scores is its share of that, whatever is asked, and in whichever language it is.
    Of more than QUERY_TERMS_MAX terms in a language the rarest are kept.

    taken_for: by word of the text, others that may have been meant. They are terms too, and all of
    them together count as one word in what is to be had; it weighs what the rarest of them does.
    """
    asked = tokens.read(text)
    weights: dict[int, float] = {}
    chances: dict[int, float] = {}
    for language in {base_language(code) for code in languages}:
        terms = dict(term for token in asked.words for term in _terms(token, language))
        terms.update((_index(span, language), _chance(RAREST)) for span in asked.spans)
        rarest = dict(nsmallest(QUERY_TERMS_MAX, terms.items(), key=itemgetter(1)))
        weighed = _weighed(rarest, taken_for, language)
        weights |= weighed.weights
        chances |= weighed.chances
    return Terms(weights, chances)


def _weighed(
    chances: dict[int, float], taken_for: Mapping[str, Sequence[str]], language: str
) -> Terms:
    """The terms of a text, and of what its words are taken for, in one language."""
    rarities = {index: -log(chance) for index, chance in chances.items()}
    most = sum(rarities.values())
    for word, meant in taken_for.items():
        others = dict(term for other in meant if (term := _term(other, language)))
        if others:
            rarity = -log(min(others.values()))
            typed, _ = _term(word, language) or (None, None)
            if typed in rarities:
                most -= rarities[typed]
                rarities[typed] = rarity
            most += rarity
            rarities |= {index: -log(chance) for index, chance in others.items()}
            chances |= others
    return Terms({index: rarity / most / (K1 + 1) for index, rarity in rarities.items()}, chances)


def words(text: str) -> list[str]:
    """The text's words as they are compared: in order, in parts, without accents and case.

    None goes over whitespace: the words of a text are those of its pieces.
    """
    return [
        word
        for token in tokens.read(text).words
        for word in dict.fromkeys(tokens.parts(token)) or (token.casefold(),)
    ]


def stem(word: str, language: str) -> str:
    """The stem that all forms of the word have, without accents."""
    return _stem(word, base_language(language))


@lru_cache(maxsize=65_536)  # words, 10 MB
def word_share(word: str, language: str) -> float:
    """The share of the word, in all its forms, of all words in the language at large."""
    base = base_language(language)
    return _lexicon(base).frequency.get(_stem(word, base), 0.0)


def load(languages: Collection[str]) -> None:
    """Read the languages' word lists now: up to a second and 30 MB each."""
    for code in languages:
        _lexicon(base_language(code))


@lru_cache(maxsize=1_024)
def base_language(code: str) -> str:
    """The one of LANGUAGES that a BCP 47 code is analysed as: pt for pt-BR, und for fi."""
    base = re.split("[-_]", code, maxsplit=1)[0].lower()
    return base if base in LANGUAGES else UNDETERMINED


@cache
def _held(language: str) -> Memo[tuple[int, ...]]:
    """What a piece of text between spaces adds to the counts of a chunk: the terms of its words.

    And these, so that nothing beside has to be looked up: `_MORE` for each word after the first,
    `_FEWER` if there is none, and `_SPANNED` for each digit, which may be a part of a phone number,
    or often enough for one if it holds what goes over several words.
    """

    def make(piece: str) -> tuple[int, ...]:
        read = tokens.read(piece)
        words = len(read.words)
        spanned = tokens.PHONE_DIGITS_MIN if read.spans else tokens.digits(piece)
        terms = (index for token in read.words for index, _ in _terms(token, language))
        marks = (_MORE,) * (words - 1), (_FEWER,) * (not words), (_SPANNED,) * spanned
        return tuple(chain(terms, *marks))

    return Memo(make)


@lru_cache(maxsize=65_536)  # tokens, 30 MB
def _terms(token: str, language: str) -> tuple[tuple[int, float], ...]:
    """The terms of a token, whole and in parts, each its index and its chance."""
    whole, parts = tokens.whole(token, language), tokens.parts(token)
    words = dict.fromkeys((whole, *parts))
    if tokens.is_hyphenated(token) and not _is_listed(whole, language):
        del words[whole]  # e-mail is email as well, but well-known is only well and known
    terms = dict(term for word in words if (term := _term(word, language)))
    return tuple(terms.items())


@lru_cache(maxsize=32_768)  # words, 10 MB: other tokens have them as their parts
def _term(word: str, language: str) -> tuple[int, float] | None:
    """The word's index and its chance, None if nearly every text holds it."""
    stem = _stem(word, language)
    chance = _chance(_share(stem, language))
    return (_index(stem, language), chance) if chance <= CHANCE_MAX else None


def _is_listed(word: str, language: str) -> bool:
    return _stem(word, language) in _lexicon(language).frequency


def _share(stem: str, language: str) -> float:
    """Of all words. Of 17 and 42 a list holds only the sum, 00; the part of each is estimated."""
    frequency = _lexicon(language).frequency
    if stem.isalpha() and stem in frequency:
        return frequency[stem]
    unlisted = CHARACTER if tokens.is_character(stem) else RAREST
    return max(frequency.get(smash_numbers(stem), unlisted) * digit_freq(stem), RAREST)


def _chance(share: float) -> float:
    """The chance that a text of TEXT_WORDS words holds a word of this share of all words."""
    return 1 - (1 - share) ** TEXT_WORDS


def _index(stem: str, language: str) -> int:
    digest = blake2b(stem.encode(), digest_size=8, person=language.encode()).digest()
    return int.from_bytes(digest, "big") % DIMENSION


def _stem(word: str, language: str) -> str:
    """The stem, without accents, of a word with or without them."""
    word = _lexicon(language).spelling.get(word, word)
    return _stem_of_spelling(word, language)


def _stem_of_spelling(word: str, language: str) -> str:
    if language != UNDETERMINED:
        # Made anew, in less than a microsecond: a stemmer must not be shared by threads.
        word = Stemmer.Stemmer(_SNOWBALL[language], 0).stemWord(word)
    return tokens.plain(word)


@dataclass(frozen=True, slots=True)
class _Lexicon:
    """A language at large.

    spelling:  a word without its accents → its most frequent spelling, which the stemmer needs.
               So accents, or their lack, never matter.
    frequency: a stem → its share of all words, 0 to 1.
    """

    spelling: Mapping[str, str]
    frequency: Mapping[str, float]


@cache
def _lexicon(language: str) -> _Lexicon:
    spelling: dict[str, str] = {}
    frequency: defaultdict[str, float] = defaultdict(float)
    for word, share in _word_list(language):
        usual = spelling.setdefault(tokens.plain(word).casefold(), word)
        if share >= RAREST:
            frequency[_stem_of_spelling(usual, language)] += share
    return _Lexicon({plain: word for plain, word in spelling.items() if plain != word}, frequency)


def _word_list(language: str) -> Iterator[tuple[str, float]]:
    """Words and their shares, in each list the most frequent first.

    Read past `wordfreq`'s own cache, which would keep ten times as much in memory.
    """
    if language == UNDETERMINED:
        files, codes = wordfreq.available_languages("small"), sorted(_SNOWBALL)
    else:
        files, codes = wordfreq.available_languages("large"), [language]
    for code in codes:
        for centibels, words in enumerate(wordfreq.read_cBpack(files[code])):
            share = wordfreq.cB_to_freq(-centibels)
            yield from ((token, share) for word in words for token in tokens.split(word))
