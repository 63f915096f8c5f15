"""Background BM25: texts as sparse vectors whose inner product is the lexical score.

A chunk's vector says how much of each term it holds, a query's how rare each term is in the
language at large. Neither looks at another text, so a score says nothing about hidden documents.

The language is hashed into a term's index: one query analysed in several languages is one vector,
in which each chunk meets only the terms of its own language.

Pure, but that the first use of a language reads its word list; see `load`.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from heapq import nlargest
from math import log
from operator import itemgetter

import Stemmer
import wordfreq

# Vectors of two analysers must never meet: raise it when the same text gives another vector, be it
# through a new release of the stemmer or of the word lists.
ANALYSER = "bm25-1"
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

CHUNK_TERMS_MAX = 16_000  # what pgvector's sparsevec can hold
QUERY_TERMS_MAX = 64  # in each language; a starting value, not measured
TOKEN_LENGTH_MAX = 128  # characters; past it only a blob of data goes on

K1, B = 1.2, 0.75  # the customary values
CHUNK_WORDS = 200  # L, the length that counts as usual
TEXT_WORDS = 150  # of the text whose chance to hold a term makes the term common or rare
CHANCE_MAX = 0.9  # a term of nine texts in ten tells none apart: leaving it out costs nothing
RAREST = 1e-7  # the share of a word that no list holds; down to 1e-8 is no better, 1e-6 worse

# A hyphen joins where a digit stands beside it (covid-19), not in well-known.
_TOKEN = re.compile(r"\w+(?:(?:[.@]|-(?=\d)|(?<=\d)-)\w+)*")
_PART = re.compile(r"[^\W_]+")


def chunk(text: str, language: str) -> dict[int, float]:
    """Map each term's index to its saturated frequency: tf·(k1+1) / (tf + k1·(1-b + b·len/L)).

    Of more than CHUNK_TERMS_MAX terms the most frequent are kept.

    Source: Robertson, Zaragoza, The Probabilistic Relevance Framework, 2009; L fixed.
    """
    base = base_language(language)
    tokens = _tokens(text)
    counts = Counter(index for token in tokens for index, _ in _terms(token, base))
    norm = K1 * (1 - B + B * len(tokens) / CHUNK_WORDS)
    return {
        index: count * (K1 + 1) / (count + norm)
        for index, count in counts.most_common(CHUNK_TERMS_MAX)
    }


def query(text: str, languages: Collection[str]) -> dict[int, float]:
    """Map each term's index, in each of the languages, to its inverse frequency there.

    Of more than QUERY_TERMS_MAX terms in a language the rarest are kept.
    """
    tokens = _tokens(text)
    vector: dict[int, float] = {}
    for language in {base_language(code) for code in languages}:
        terms = dict(term for token in tokens for term in _terms(token, language))
        vector.update(nlargest(QUERY_TERMS_MAX, terms.items(), key=itemgetter(1)))
    return vector


def words(text: str) -> list[str]:
    """The text's words as they are compared: in order, without accents and case."""
    return [
        word for token in _tokens(text) for word in _PART.findall(_unaccented(token).casefold())
    ]


def share(word: str, language: str) -> float:
    """The share of the word, in all its forms, of all words in the language at large."""
    base = base_language(language)
    lexicon = _lexicon(base)
    return lexicon.frequency.get(_stem(lexicon.spelling.get(word, word), base), 0.0)


def load(languages: Collection[str]) -> None:
    """Read the languages' word lists now: up to a second and 30 MB each."""
    for code in languages:
        _lexicon(base_language(code))


def base_language(code: str) -> str:
    """The one of LANGUAGES that a BCP 47 code is analysed as: pt for pt-BR, und for fi."""
    base = re.split("[-_]", code, maxsplit=1)[0].lower()
    return base if base in LANGUAGES else UNDETERMINED


def _tokens(text: str) -> list[str]:
    composed = unicodedata.normalize("NFC", text)  # a bare accent would part a word
    return [token[:TOKEN_LENGTH_MAX] for token in _TOKEN.findall(composed)]


@lru_cache(maxsize=65_536)  # tokens, 30 MB
def _terms(token: str, language: str) -> tuple[tuple[int, float], ...]:
    """The terms of a token, whole and in parts, each its index and its inverse frequency."""
    lexicon = _lexicon(language)
    whole = _unaccented(token).casefold()
    words = dict.fromkeys((whole, *_PART.findall(whole)))
    stems = dict.fromkeys(_stem(lexicon.spelling.get(word, word), language) for word in words)
    return tuple(
        (_index(stem, language), -log(chance))
        for stem in stems
        if (chance := _chance(lexicon.frequency.get(stem, RAREST))) <= CHANCE_MAX
    )


def _chance(share: float) -> float:
    """The chance that a text of TEXT_WORDS words holds a word of this share of all words."""
    return 1 - (1 - share) ** TEXT_WORDS


def _index(stem: str, language: str) -> int:
    digest = blake2b(stem.encode(), digest_size=8, person=language.encode()).digest()
    return int.from_bytes(digest, "big") % DIMENSION


def _stem(word: str, language: str) -> str:
    if language != UNDETERMINED:
        # Made anew, in less than a microsecond: a stemmer must not be shared by threads.
        word = Stemmer.Stemmer(_SNOWBALL[language], 0).stemWord(word)
    return _unaccented(word)


def _unaccented(word: str) -> str:
    if word.isascii():
        return word
    letters = unicodedata.normalize("NFD", word)
    return "".join(letter for letter in letters if unicodedata.category(letter) != "Mn")


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
        usual = spelling.setdefault(_unaccented(word), word)
        if share >= RAREST:
            frequency[_stem(usual, language)] += share
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
            yield from ((token, share) for word in words for token in _TOKEN.findall(word))
