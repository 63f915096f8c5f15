"""Background BM25: texts as sparse vectors whose inner product is the lexical score.

A chunk's vector has the saturated frequency of each term; a query's vector has the rarity of each
term in the language at large, as a share of the query's total, so scores are from 0 to 1. Both use
no other text, so a score reveals nothing about hidden documents.

The language is hashed into a term's index: a query that is analysed in several languages is one
vector, and a chunk matches only the terms of its own language.

Pure, except that the first use of a language loads its word list; see `analysed_languages`.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from hashlib import blake2b
from itertools import chain
from math import exp, log
from operator import attrgetter, itemgetter
from types import MappingProxyType

from index.text import dates, numerals, phrases, tokens
from index.text.memo import QUERY_PIECES_MAX, Memo
from index.text.names import Named
from index.text.word_lists import digit_shares
from index.text.word_lists.analysed_languages import LOADED, base_language, word_list
from index.text.word_lists.building import RAREST
from index.text.word_lists.stemming import UNDETERMINED, stem_spelling

# Vectors of different analysers must never be compared: change the name when a text's vector
# changes, also through a new release of the stemmer or of the word lists.
ANALYSER = "bm25-6"
DIMENSION = 1_000_000_000  # the limit of pgvector's sparsevec

NO_CORRECTIONS: Mapping[str, Sequence[str]] = MappingProxyType({})

CHUNK_TERMS_MAX = 16_000  # the limit of pgvector's sparsevec
QUERY_TERMS_MAX = 64  # in each language; a starting value, not measured

K1 = 0.8  # 0.7 to 0.9 gave a mean nDCG@10 of 0.804 over seven public sets, the customary 1.2 0.801
B = 0.75  # the customary value
CHUNK_WORDS = 200  # L, the length without a bonus or a penalty
TEXT_WORDS = 150  # of the text that defines how common a term is: by its chance to contain the term
CHANCE_MAX = 0.9  # a term of nine texts in ten hardly ranks them: omitting it costs nothing
_BESIDE_NAME = 0.5  # what words weigh beside the term of what they name, in all its spellings
CHARACTER = 1e-3  # the share of a character of a script without spaces; not measured

_DIGITS = attrgetter("digits")  # of a `Piece`

# Counted among terms, whose indexes are not negative.
_MORE, _FEWER, _SPANNED, _JOINED = -1, -2, -3, -4


@dataclass(frozen=True, slots=True)
class Terms:
    """A query's terms, by index.

    weights: the term's addition to a chunk's score, per unit of the chunk's vector.
    chances: that a text of TEXT_WORDS words of the language at large contains the term, 0 to 1.
    """

    weights: Mapping[int, float]
    chances: Mapping[int, float]


def chunk(text: str, language: str, title: str = "") -> dict[int, float]:
    """Map each term's index to its saturated frequency: f·(k1+1) / (f + k1).

    f is the sum of tf / (1-b + b·len/L) in the text and tf / (1-b) in the title: in all chunks of
    a document the title counts the same, as in a text without length, and the texts decide.
    len counts both. Of more than CHUNK_TERMS_MAX terms the title's and the most frequent are kept.

    Source: Robertson, Zaragoza, The Probabilistic Relevance Framework, 2009, BM25F; L fixed.
    """
    (weights,), _ = chunks([text], language, title)
    return weights


def chunks(
    texts: Sequence[str], language: str, title: str = ""
) -> tuple[list[dict[int, float]], set[str]]:
    """`chunk` of each text, and the pieces between spaces of all texts and the title together.

    A piece that the texts share is looked up once: chunks of one document share two in three.
    """
    base = base_language(language)
    split = [text.split() for text in (title, *texts)]
    pieces = set(chain.from_iterable(split))
    terms = dict(zip(pieces, map(_piece_terms(base).__getitem__, pieces), strict=True))
    of_title, *of_texts = [
        _count(text, text_pieces, terms, base)
        for text, text_pieces in zip((title, *texts), split, strict=True)
    ]
    return [_saturate(of_text, of_title) for of_text in of_texts], pieces


def _count(
    text: str, pieces: Sequence[str], terms: Mapping[str, Sequence[int]], language: str
) -> tuple[Counter[int], int]:
    """How often the text holds each term, and its length. terms: by piece, of `_piece_terms`."""
    counts = Counter(chain.from_iterable(map(terms.__getitem__, pieces)))
    length = len(pieces) + counts.pop(_MORE, 0) - counts.pop(_FEWER, 0)
    digits, joined = counts.pop(_SPANNED, 0), counts.pop(_JOINED, 0)
    if digits >= tokens.PHONE_DIGITS_MIN:
        counts.update(_index(span, language) for span in tokens.spans(text))
    if digits >= dates.DIGITS_MIN:
        for term in {term for named in dates.named(text) for term in dates.around(named)}:
            counts.setdefault(_index(term, language), 1)  # as a word it has been counted
    if joined:
        for phrase in phrases.named(pieces, language):
            counts.update(_index(term, language) for term in phrase.terms)
    return counts, length


def _saturate(
    of_text: tuple[Counter[int], int], of_title: tuple[Counter[int], int]
) -> dict[int, float]:
    (counts, length), (title_counts, title_length) = of_text, of_title
    norm = 1 - B + B * (length + title_length) / CHUNK_WORDS
    most = CHUNK_TERMS_MAX - len(title_counts)
    if len(counts) > most:
        counts = Counter(dict(counts.most_common(most)))
    by_count = {count: _saturated(count / norm) for count in set(counts.values())}
    weights = {index: by_count[count] for index, count in counts.items()}
    for index, count in title_counts.items():
        weights[index] = _saturated(counts[index] / norm + count / (1 - B))
    return weights


def _saturated(frequency: float) -> float:
    return frequency * (K1 + 1) / (frequency + K1)


def query(
    text: str,
    languages: Collection[str],
    corrections: Mapping[str, Sequence[str]] = NO_CORRECTIONS,
    *,
    asked_in: str | None = None,
) -> Terms:
    """Weigh each term, in each of the languages, by its inverse frequency there.

    The weights of a language are scaled so that a chunk that is full of every term scores 1: scores
    of different queries and languages are comparable. Of more than QUERY_TERMS_MAX terms in a
    language the rarest are kept.

    asked_in: the language of the text, if it is known. In another language a word is as common as
    in the commoner of the two: its list lacks most words of the text, and none of them is rare for
    that reason.
    corrections: the possible corrections of words of the text, by word. They are terms too; all
    corrections of a word together count as one word, with the weight of the rarest.
    A date, a number or a compound of several words is a term that weighs as much as the words that
    name it; beside it these weigh half.
    (A chunk that holds typo and correction can score above 1.)
    The terms come in the order of the languages' codes, so that equal queries give equal bytes.
    """
    pieces = text.split()
    digits = sum(map(_DIGITS, map(tokens.PIECES.__getitem__, pieces)))
    spans = tokens.spans(text) if digits >= tokens.PHONE_DIGITS_MIN else ()
    named = dates.named(text) if digits >= dates.DIGITS_MIN else []
    weights: dict[int, float] = {}
    chances: dict[int, float] = {}
    for language in sorted({*map(base_language, languages)}):
        others = _other_languages(asked_in, language)
        chances_of = _piece_chances(language).__getitem__
        if others:  # not remembered by piece: there would be one memory for each pair of languages
            chances_of = partial(_chances, (language, *others))
        terms = dict(chain.from_iterable(map(chances_of, pieces)))
        for span in spans:
            terms[_index(span, language)] = _chance(RAREST)
        rarest = dict(sorted(terms.items(), key=itemgetter(1))[:QUERY_TERMS_MAX])
        names = (*named, *phrases.named(pieces, language))
        weights |= _weigh(rarest, corrections, names, language, *others)
        chances |= rarest
    return Terms(weights, chances)


def _weigh(
    chances: dict[int, float],
    corrections: Mapping[str, Sequence[str]],
    named: Sequence[Named],
    language: str,
    *others: str,
) -> dict[int, float]:
    """The weights of a text's terms in one language, of its corrections and what it names.

    chances: of the text's terms; those of the others are added. others: the
    text's own language, if it is another.
    """
    rarities = {index: -log(chance) for index, chance in chances.items()}
    rarities |= _named(rarities, named, language, *others)
    chances |= {index: exp(-rarity) for index, rarity in rarities.items() if index not in chances}
    total = sum(rarities.values())
    for word, candidates in corrections.items():
        corrected = dict(
            term for candidate in candidates if (term := _term(candidate, language, *others))
        )
        if corrected:
            rarity = -log(min(corrected.values()))
            typed, _ = _term(word, language, *others) or (None, None)
            if typed in rarities:
                total -= rarities[typed]
                rarities[typed] = rarity
            total += rarity
            rarities |= {index: -log(chance) for index, chance in corrected.items()}
            chances |= corrected
    most = K1 + 1  # that a chunk's vector holds of a term
    return {index: rarity / total / most for index, rarity in rarities.items()}


def _named(
    rarities: Mapping[int, float], named: Sequence[Named], language: str, *others: str
) -> dict[int, float]:
    """The rarities of the terms of what is named, and those that are left to the words of it."""
    terms: dict[int, float] = {}
    words: dict[int, float] = {}
    for found in named:
        written = dict(_chances((language, *others), found.written))
        indexes = [index for index in written if index in rarities]
        rarity = sum(rarities[index] for index in indexes) / len(found.terms)
        if rarity:  # else none of the words counts
            words |= {index: _BESIDE_NAME * rarities[index] for index in indexes}
            terms |= dict.fromkeys((_index(term, language) for term in found.terms), rarity)
    return words | {index: rarities.get(index, rarity) for index, rarity in terms.items()}


def has_term(text: str, language: str, terms: Collection[int]) -> bool:
    """Whether a word of a text without spaces is one of a query's terms.

    language: a member of LANGUAGES.
    """
    return not set(_piece_terms(language)[text]).isdisjoint(terms)


def is_term(token: str, language: str, terms: Collection[int]) -> bool:
    """Whether a whole token, and not only a part of it, is one of a query's terms."""
    spelling = tokens.plain(token)
    term = _term(tokens.whole(spelling, language), language)
    return term is not None and term in _terms(spelling, language) and term[0] in terms


def words(text: str) -> list[str]:
    """The text's words as they are compared: in order, in parts, without accents and case.

    No word contains whitespace, so the words of a text are those of its pieces.
    """
    letters = tokens.bare_letters(text)
    if letters.islower():  # most pieces between spaces
        return [letters]
    return tokens.words_of(tokens.read(text).words)


def stem(word: str, language: str) -> str:
    """The common stem of all forms of the word, without accents."""
    return _stem(word, base_language(language))[0]


def word_share(word: str, language: str) -> float:
    """The share of the word's forms among all words of the language at large."""
    return _stem(word, base_language(language))[1] or 0.0


def is_foreign(asked_in: str | None, languages: Collection[str]) -> bool:
    """Whether texts in all of these languages are in another one than the query, as `query` reads.

    False if no language is known.
    """
    others = [_other_languages(asked_in, base_language(code)) for code in languages]
    return bool(others) and all(others)


def are_loaded(languages: Collection[str]) -> bool:
    """Whether texts in these languages are analysed without a wait."""
    return LOADED.keys() >= {*map(base_language, languages)}


@cache
def _piece_terms(language: str) -> Memo[tuple[int, ...]]:
    """By piece of text between spaces, the terms that it adds to the counts of a chunk.

    The terms include counters: `_MORE` for each word after the first, `_FEWER` if there is none,
    `_SPANNED` for each of its digits, and `_JOINED` if it may be in a phrase.
    """

    def analyse(piece: str) -> tuple[int, ...]:
        read = tokens.read(piece)
        words = read.words
        terms = (index for token in words for index, _ in _terms(token, language))
        more, fewer = (_MORE,) * (len(words) - 1), (_FEWER,) * (not words)
        spanned = (_SPANNED,) * tokens.digits(piece, read.spans)
        joined = (_JOINED,) * phrases.begins(piece, language)
        return tuple(chain(terms, more, fewer, spanned, joined))

    return Memo(analyse)


@cache
def _piece_chances(language: str) -> Memo[tuple[tuple[int, float], ...]]:
    """By piece of text between spaces, the index and the chance of each term of its words."""

    return Memo(partial(_chances, (language,)), QUERY_PIECES_MAX)


def _chances(languages: Sequence[str], piece: str) -> tuple[tuple[int, float], ...]:
    words = tokens.PIECES[piece].tokens
    if len(words) == 1:  # most pieces: no copy of what is in memory
        return _terms(words[0], *languages)
    return tuple(chain.from_iterable(_terms(word, *languages) for word in words))


def _other_languages(asked_in: str | None, language: str) -> Sequence[str]:
    """The language of a text, if it is another; the list of UNDETERMINED is of all languages."""
    asked = base_language(asked_in or UNDETERMINED)
    return () if UNDETERMINED in (asked, language) or asked == language else (asked,)


@lru_cache(maxsize=65_536)  # tokens, 30 MB
def _terms(token: str, language: str, *others: str) -> tuple[tuple[int, float], ...]:
    """The index and the chance of each term of a token: the whole and its parts."""
    if token.isascii() and token.isalpha() and token.islower():  # most tokens are one word
        term = _term(token, language, *others)
        return (term,) if term else ()
    whole, parts = tokens.whole(token, language), tokens.parts(token)
    words = dict.fromkeys((whole, *parts))
    if len(words) > 1 and _is_undivided(token, whole, language):
        words = {whole: None}
    elif tokens.is_hyphenated(token) and not _is_listed(whole, language):
        del words[whole]  # meta-data is also metadata, but well-known is only well and known
    terms = dict(term for word in words if (term := _term(word, language, *others)))
    return tuple(terms.items())


def _is_undivided(token: str, whole: str, language: str) -> bool:
    """Whether the parts of a token are none of its words: of 1,000, twenty-five and e-mail."""
    return (
        whole.isdecimal()
        or numerals.digits(whole, language) is not None
        or (tokens.is_hyphenated(token) and phrases.is_compound(token))
    )


@lru_cache(maxsize=32_768)  # words, 10 MB: parts of different tokens are often the same
def _term(word: str, language: str, *others: str) -> tuple[int, float] | None:
    """The word's index, and its chance in the language in which it is the most common.

    None if nearly every text there contains it.
    """
    stem, listed = _stem(word, language)
    shares = [_share(stem, listed, language)]
    if others:
        shares += [_share(*_stem(word, other), other) for other in others]
    number = numerals.digits(word, language)
    if number:
        stem = number
        shares.append(_share(number, None, language))
    chance = _chance(max(shares))
    return (_index(stem, language), chance) if chance <= CHANCE_MAX else None


def _is_listed(word: str, language: str) -> bool:
    return _stem(word, language)[1] is not None


def _share(stem: str, listed: float | None, language: str) -> float:
    """The share of all words; of numbers, lists only have the sum by shape, such as 00.

    listed: what the language's list has of the stem.
    """
    is_word = stem.isalpha()
    share = (
        listed
        if is_word
        else (LOADED.get(language) or word_list(language)).share(digit_shares.shape(stem))
    )
    if share is None:
        share = CHARACTER if tokens.is_character(stem) else RAREST
    return share if is_word else max(share * digit_shares.share_of_shape(stem), RAREST)


def _chance(share: float) -> float:
    """The chance that a text of TEXT_WORDS words contains a word with this share."""
    return 1 - (1 - share) ** TEXT_WORDS


def _index(stem: str, language: str) -> int:
    digest = blake2b(stem.encode(), digest_size=8, person=language.encode()).digest()
    return int.from_bytes(digest, "big") % DIMENSION


@lru_cache(maxsize=65_536)  # words, 10 MB
def _stem(word: str, language: str) -> tuple[str, float | None]:
    """The stem, without accents, of a word with or without them, and its share in the list.

    None if the list of the language's words lacks it.
    """
    listed = LOADED.get(language) or word_list(language)
    stem = stem_spelling(listed.spelling(word), language)
    return stem, listed.share(stem)
