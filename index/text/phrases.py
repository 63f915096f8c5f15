"""Several words that are one elsewhere: log in is also login, vinte e cinco 25, and 12 500 12500.

Pure.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import compress, count, pairwise

from index.text import numerals, tokens
from index.text.memo import QUERY_PIECES_MAX, Memo
from index.text.names import Named
from index.text.word_lists.stemming import stem_spelling

_WORDS_MAX = 8  # of a number

# English writes these both ways. Two words that only happen to stand side by side are none.
_COMPOUNDS = (
    "back-up black-list break-down check-list/out clean-up count-down data-base down-time drop-down"
    " e-mail end-point fall-back file-name fire-wall follow-up hand-over help-desk home-page"
    " host-name key-word life-cycle log-in/off/on/out look-up multi-factor name-space opt-in/out"
    " pass-word pay-roll plug-in print-out road-map roll-back/out run-time screen-shot set-up"
    " shut-down sign-in/off/on/up smart-phone spread-sheet start-up time-out/stamp/zone"
    " touch-screen user-name voice-mail web-cam/page/site wi-fi work-around/flow/space"
)
_COMPOUND_STEMS: dict[tuple[str, ...], str] = {
    (stem_spelling(first, "en"), stem_spelling(second, "en")): stem_spelling(first + second, "en")
    for first, seconds in (compound.split("-") for compound in _COMPOUNDS.split())
    for second in seconds.split("/")
}
_FIRST_STEMS = {first for first, _ in _COMPOUND_STEMS}
_SECOND_STEMS = {second for _, second in _COMPOUND_STEMS}
_LETTERS = 3  # that say of most words that they are in no phrase
_COMPOUND_STARTS = {stem[:_LETTERS] for stem in _FIRST_STEMS | _SECOND_STEMS}

_DIGITS = re.compile(r"\d{1,3}")
_GROUPS = re.compile(r"[1-9]\d{0,2}(?: \d{3})+")


def begins(piece: str, language: str) -> bool:
    """Whether the piece of text between spaces may be in a phrase: each has one such piece."""
    word = _plain(piece, language).rstrip(tokens.PUNCTUATION)
    return word != "" and (
        (len(word) == 3 and word.isdecimal())
        or numerals.is_longer(word, language)
        or _compound_stem(word, language) in _FIRST_STEMS
    )


def is_compound(token: str) -> bool:
    """Whether the token is a compound with a hyphen."""
    stems = tuple(stem_spelling(word, "en") for word in token.casefold().split("-"))
    return stems in _COMPOUND_STEMS


def named(pieces: Sequence[str], language: str) -> Iterator[Named]:
    """What a text names in several words; pieces: of the text, split at its spaces."""
    word_of = _words(language).__getitem__
    end = 0
    for place, following in pairwise(compress(count(), map(word_of, pieces))):
        if following == place + 1 and place >= end:
            words = [*map(word_of, pieces[place : place + _WORDS_MAX])]
            for length in range(_length(words), 1, -1):
                term = _term(words[:length], language)
                if term:
                    yield Named((term,), " ".join(words[:length]))
                    end = place + length
                    break


def _length(words: Sequence[str]) -> int:
    """The number of words up to one that is in no phrase, or to a mark."""
    for length, word in enumerate(words):
        if not word:
            return length
        if word[-1] in tokens.PUNCTUATION:
            return length + 1
    return len(words)


@cache
def _words(language: str) -> Memo[str]:
    """By piece, its word in plain spelling, with the marks behind it; empty if in no phrase."""

    def word_of(piece: str) -> str:
        marked = _plain(piece, language)
        word = marked.rstrip(tokens.PUNCTUATION)
        is_in_phrase = word and (
            _DIGITS.fullmatch(word)
            or numerals.is_part(word, language)
            or _compound_stem(word, language) in _FIRST_STEMS | _SECOND_STEMS
        )
        return marked if is_in_phrase else ""

    return Memo(word_of, QUERY_PIECES_MAX)


def _compound_stem(word: str, language: str) -> str | None:
    may_be = language == "en" and word[:_LETTERS] in _COMPOUND_STARTS
    return stem_spelling(word, language) if may_be else None


def _term(phrase: Sequence[str], language: str) -> str | None:
    *before, last = phrase
    words = (*before, last.rstrip(tokens.PUNCTUATION))
    text = " ".join(words)
    if _GROUPS.fullmatch(text):
        return text.replace(" ", "")
    stems = tuple(_compound_stem(word, language) or "" for word in words)
    return _COMPOUND_STEMS.get(stems) or numerals.digits("".join(words).replace("-", ""), language)


def _plain(piece: str, language: str) -> str:
    """The word in plain spelling, with the marks behind it; empty for most in no phrase."""
    if piece.isascii() and piece.isalpha():  # most pieces
        word = piece.lower()
        start = word[:_LETTERS]
        is_compound = language == "en" and start in _COMPOUND_STARTS
        return word if is_compound or numerals.is_start(start, language) else ""
    return tokens.plain(piece).casefold().lstrip(tokens.PUNCTUATION)
