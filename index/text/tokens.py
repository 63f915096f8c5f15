"""The tokens of a text in plain spelling, and the words that find a token: whole and in parts.

The language only decides which mark groups the digits of a number.
Texts are untrusted, so every pattern takes time linear in the text.
"""

import gzip
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgpack

from index.model.form import MARKS_MAX, stream_safe
from index.text.memo import QUERY_PIECES_MAX, Memo

LENGTH_MAX = 128  # characters of a token; a longer one is a blob of data

# Letters that Unicode does not decompose into a plain letter and an accent, and signs that would
# split a word or count as letters. (Case folding makes two letters of ß.)
_SPELLINGS = str.maketrans(
    {"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ħ": "h", "Ħ": "H", "\u0131": "i"}
    | {"æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "þ": "th", "Þ": "TH", "ð": "d", "Ð": "D"}
    | {"\u2010": "-", "\u2011": "-", "\u2212": "-"}  # hyphens, minus
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", "")  # soft hyphens, joiners
)
# The marks of Latin, Greek, Cyrillic, Hebrew and Arabic letters are accents. Those of Indic ones
# are not: they are vowels, and distinguish words.
_ACCENT_RANGES = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
_ACCENTS = re.compile(f"[{_ACCENT_RANGES}]+")
_INDIC_MARKS = "".join(
    chr(code) for code in range(0x0900, 0x0E00) if unicodedata.category(chr(code)).startswith("M")
)
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
_SHORT_RUN = 4  # characters

# Scripts without spaces between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese; and Korean,
# which joins particles to words. Their tokens are the characters, and pairs of neighbours.
_UNSPACED = (
    "[\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0edf\u1000-\u103f\u1050-\u109f\u1780-\u17d3"
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
_CHARACTER = re.compile(_UNSPACED)
_IDEOGRAPH = re.compile("[\u3400-\u9fff\U00020000-\U0003ffff]")
_PAIR = re.compile(f"(?=({_UNSPACED}{{2}}))")

_INDIC = re.compile(f"[{_INDIC_MARKS}]")
_TOKEN, _INDIC_TOKEN = (
    re.compile(
        rf"{run}(?:[.@-]{run}|,(?<=\d,)(?=\d){run}|['\u2019](?<=\d.)\d{{3}}(?!\w))*"
        r"(?:(?<=\b[^\W\d_])(?:\+\+|#(?!\w)))?"  # C++, C#
    )
    for run in (r"\w+", rf"[\w{_INDIC_MARKS}]+")  # twice as slow
)
# In a text's own spelling a word may also hold accents and signs that `plain` removes.
_SPELLED = rf"[\w{_ACCENT_RANGES}{_INDIC_MARKS}\u00ad\u200b-\u200d\u2060\ufeff]"
_SPELLED_WORD = re.compile(rf"{_UNSPACED}|(?:(?!{_UNSPACED}){_SPELLED})+")
_SPELLED_TOKEN = re.compile(
    rf"{_SPELLED}+(?:(?:[.,@\u2010\u2011\u2212-]|['\u2019](?<=\d.)){_SPELLED}+)*(?:\+\+|#)?"
)
_ALPHANUMERIC = re.compile(rf"(?:[^\W_]|[{_INDIC_MARKS}])+")
_LETTERS_OR_DIGITS = re.compile(rf"(?:[^\W\d_]|[{_INDIC_MARKS}])+|\d+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Joints within an identifier are removed: snake_case equals snakeCase, but 10-20 is not 1020.
_JOINT = re.compile(r"(?<=[^\W\d_])[-_]+(?=[^\W_])|(?<=\d)[-_]+(?=[^\W\d_])")
_VERSION = re.compile(r"[vV](?=\d+\.\d)")
_HYPHENATED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")

PUNCTUATION = ".,;:!?()[]\"'"  # not part of a token when before or after it

_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"\d+(?:[.,'\u2019]\d+)+")
_DECIMAL_POINT = frozenset({"en", "und"})  # elsewhere 1.000 is a thousand

_PHONE = re.compile(r"[+(\d](?<![\w.,/-].)[\d ().-]{7,20}(?<=\d)(?!\w)")
PHONE_DIGITS_MIN = 9
_PHONE_DIGITS = range(PHONE_DIGITS_MIN, 16)  # E.164 allows 15
_PHONE_DIGITS_LOCAL = 9  # the last digits, which are the same with and without a country's code
_LINK = re.compile(r"[^\s<>()\[\]{}\"'`|,;\\]+")
_LINK_PUNCTUATION = ".:!?*_"


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a text.

    words: in order, with repetitions: their number is the length of the text.
    spans: terms of several words: addresses, phone numbers, pairs of characters.
    """

    words: list[str]
    spans: list[str]


def read(text: str) -> Tokens:
    """The tokens of a text, in their case, which `parts` uses.

    Only a phone number contains whitespace: other tokens can be read piece by piece.
    """
    letters = bare_letters(text)
    if letters:  # most pieces between spaces
        return Tokens([letters], [])
    text, spans = _separate_characters(plain(text))
    words = split(text)
    return Tokens(words if len(text) <= LENGTH_MAX else _truncate(words), spans)


class Piece(NamedTuple):
    """A piece of a query between spaces, as it is compared in every language.

    tokens: as `read` returns them. words: see `words_of`. digits: see the function.
    """

    tokens: Sequence[str]
    words: Sequence[str]
    digits: int


def read_piece(text: str) -> Piece:
    letters = bare_letters(text)
    if letters.islower():  # most pieces
        return Piece((letters,), (letters,), 0)
    tokens = read(text)
    return Piece(tokens.words, words_of(tokens.words), digits(text, tokens.spans))


PIECES = Memo(read_piece, QUERY_PIECES_MAX)


def words_of(tokens: Iterable[str]) -> list[str]:
    """The words of the tokens as they are compared: in order, in parts, without case."""
    return [word for token in tokens for word in dict.fromkeys(parts(token)) or (token.casefold(),)]


def bare_letters(text: str) -> str:
    """The text without marks around it if that leaves plain letters, one token; else empty."""
    bare = text.strip(PUNCTUATION)
    return bare[:LENGTH_MAX] if bare.isascii() and bare.isalpha() else ""


def spans(text: str) -> list[str]:
    """The spans of a text, as `read` returns them; the words are not read."""
    return _separate_characters(plain(text))[1]


def digits(text: str, spans: Sequence[str]) -> int:
    """The digits that may belong to a phone number; as many as one has if the text has spans."""
    return PHONE_DIGITS_MIN if spans else len(_DIGIT.findall(plain(text)))


def split(text: str) -> list[str]:
    """The tokens of a text in their spelling."""
    if not text.isascii() and _INDIC.search(text):
        return _INDIC_TOKEN.findall(text)
    return _TOKEN.findall(text)


def places(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each token of a text in its own spelling."""
    return (match.span() for match in _SPELLED_TOKEN.finditer(text))


def word_places(token: str) -> Iterator[tuple[int, int]]:
    """Start and end of the words of a token; in a script without spaces, of its characters."""
    return (match.span() for match in _SPELLED_WORD.finditer(token))


def has_word(text: str) -> bool:
    return _SPELLED_WORD.search(text) is not None


def plain(text: str) -> str:
    """The text without accents, in one normal form of Unicode."""
    if text.isascii():
        return text
    return _FOREIGN.sub(_plain_match, text)


def whole(token: str, language: str) -> str:
    """The word for the whole token: the same for all its spellings."""
    folded = token.casefold()
    if folded.isalpha():
        return folded
    if _NUMBER.fullmatch(folded):
        return _number(folded, language)
    return _JOINT.sub("", _VERSION.sub("", folded, count=1))


def parts(token: str) -> Iterator[str]:
    """The words within a token: split at marks, then at capitals, letters and digits."""
    if token.isalpha() and (token[1:].islower() or token.isupper()):
        return
    for run in _ALPHANUMERIC.findall(_VERSION.sub("", token, count=1)):
        for part in (run, *_HUMP.split(run), *_LETTERS_OR_DIGITS.findall(run)):
            yield part.casefold()


def is_hyphenated(token: str) -> bool:
    """Whether the token is words joined by hyphens, as well-known, and no identifier."""
    return "-" in token and _HYPHENATED.fullmatch(token) is not None


def is_character(word: str) -> bool:
    """Whether the word is one character of a script without spaces."""
    return _CHARACTER.fullmatch(word) is not None


def _number(number: str, language: str) -> str:
    """1.000,50 and 1,000.50 become 1000.50; a date or a version stays."""
    number = re.sub("['\u2019]", "", number)
    first, *groups = re.split("[.,]", number)
    if not groups:
        return number
    marks = re.sub(r"\d", "", number)
    is_thousand = marks == ("," if language in _DECIMAL_POINT else ".") and len(groups[0]) == 3
    decimals = ""
    if marks[-1] not in marks[:-1] and (not is_thousand or first == "0"):
        decimals = f".{groups.pop()}"
    if groups and (len(first) > 3 or any(len(group) != 3 for group in groups)):
        return number
    return "".join((first, *groups, decimals))


def _plain_match(match: re.Match[str]) -> str:
    run = match[0]
    return _plain_short_run(run) if len(run) <= _SHORT_RUN else _plain_run(run)


def _plain_run(run: str) -> str:
    run = run.replace("\u2122", " ")  # a trade mark, which would become the letters TM
    letters = _ACCENTS.sub("", unicodedata.normalize("NFKD", _stream_safe(run)))
    spelt = letters.translate(_SPELLINGS)
    if _IDEOGRAPH.search(spelt):
        spelt = spelt.translate(_SIMPLIFIED)
    return unicodedata.normalize("NFC", _stream_safe(spelt))


def _read_simplified() -> Mapping[int, str]:
    """The simplified character of each traditional one, from the data of `wordfreq`.

    The package is not imported: that takes 0.4 s.
    """
    package = find_spec("wordfreq")
    assert package is not None
    assert package.origin is not None
    file = Path(package.origin).parent / "data" / "_chinese_mapping.msgpack.gz"
    mapping: Mapping[int, str] = msgpack.unpackb(
        gzip.decompress(file.read_bytes()), strict_map_key=False
    )
    return mapping


_SIMPLIFIED = _read_simplified()  # in some milliseconds, and not within the event loop


def _stream_safe(run: str) -> str:
    """A query may have thousands of marks in a row, and a chunk once its joiners are removed."""
    return run if len(run) <= MARKS_MAX else stream_safe(run)


_plain_short_run = lru_cache(maxsize=4096)(_plain_run)  # most runs in Portuguese are short; 1 MB


def _truncate(tokens: list[str]) -> list[str]:
    return [token[:LENGTH_MAX] for token in tokens]


def _separate_characters(text: str) -> tuple[str, list[str]]:
    """The plain text with spaces around each character that is a token, and the text's spans."""
    spans = [*_links(text)] if "/" in text else []
    if len(text) >= PHONE_DIGITS_MIN:
        spans += _phones(text)
    if not text.isascii() and _CHARACTER.search(text):
        spans += _PAIR.findall(text)
        text = _CHARACTER.sub(r" \g<0> ", text)
    return text, spans if len(text) <= LENGTH_MAX else _truncate(spans)


def _links(text: str) -> Iterator[str]:
    """URLs without their scheme, and paths."""
    for link in chain.from_iterable(_LINK.findall(word) for word in text.split() if "/" in word):
        scheme, _, address = link.rpartition("://")
        address = address.strip(_LINK_PUNCTUATION).rstrip("/")
        if "/" in address and (scheme or "." in address or address.count("/") > 1):
            yield address.casefold()


def _phones(text: str) -> Iterator[str]:
    """The digits of phone numbers, and their last digits, which are the same from abroad."""
    for match in _PHONE.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if len(digits) in _PHONE_DIGITS:
            yield from dict.fromkeys((digits, digits[-_PHONE_DIGITS_LOCAL:]))
