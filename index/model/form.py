"""The form of short texts: a pattern for the whole text, and characters that no name holds."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, LiteralString

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SURROGATES = r"\ud800-\udfff"
CONTROLS = r"\x00-\x1f\x7f-\x9f"
# What nobody sees, or what reorders what one sees, in Unicode 15.1: format characters (class Cf),
# separators of lines and paragraphs, fillers and reserved characters (Default_Ignorable_Code_Point
# of DerivedCoreProperties.txt), and blank signs. Scripts and emoji need U+200C, U+200D and the
# variation selectors; subjects and groups are stored without them.
INVISIBLE = (
    r"\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180e"
    r"\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffc"
    r"\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)

_VISIBLE = re.compile(rf"[^\s{CONTROLS}{INVISIBLE}\u200c\u200d]")
_CHARACTERS_MAX = 2_048
MARKS_MAX = 30  # on one letter; UAX 15, section 13
_JOINER = 0x034F
_MARKS_END = 0x1_E94B  # no mark of Unicode 16 has a higher code
# They compose with what is before them and have the class 0: vowels and finals of Hangul, and signs
# of Indic scripts. Here they count as marks. Source: UnicodeData.txt of Unicode 16.
_COMPOSING = re.compile(
    "[\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0cc2\u0cd5\u0cd6\u0d3e\u0d57\u0dcf\u0ddf\u0fb5\u0fb7"
    "\u102e\u1161-\u1175\u11a8-\u11c2\u1b35\U00011127\U0001133e\U00011357\U000113b8\U000113bb"
    "\U000113c2\U000113c5\U000113c7-\U000113c9\U000114b0\U000114ba\U000114bd\U000115af\U00011930"
    "\U0001611e-\U00016120\U00016129\U00016d67]"
)
# A function written in C holds the interpreter until it has read its text. So many characters take
# a fraction of a millisecond; two million took a third of a second.
PART_CHARACTERS_MAX = 16_384
# Only these decompose into marks without a letter, three of them without being marks themselves.
_OF_MARKS = {
    mark: unicodedata.normalize("NFD", mark)
    for mark in "\u0340\u0341\u0343\u0344\u0f73\u0f75\u0f81"
}


def composed(text: str) -> str:
    """The text in Unicode's normal form C, as names of files on some systems are not.

    It has a joiner after every 30 marks in a row.
    """
    return text if text.isascii() else unicodedata.normalize("NFC", stream_safe(text))


def parts(text: str) -> Iterator[str]:
    """A long text in parts, whose normal forms together are that of the text.

    A part ends where nothing composes. If it ends within many marks, a joiner is added.
    """
    start = 0
    while len(text) - start > PART_CHARACTERS_MAX:
        end = start + PART_CHARACTERS_MAX
        cuts = (at for at in range(end, end - MARKS_MAX - 1, -1) if _is_apart(text, at))
        cut = next(cuts, None)
        yield text[start:end] + chr(_JOINER) if cut is None else text[start:cut]
        start = cut or end
    yield text[start:]


def _is_apart(text: str, at: int) -> bool:
    """Whether the character composes with none before it, and is not the second of a line's end."""
    character = text[at]
    if character.isascii():
        return character != "\n" or text[at - 1] != "\r"
    return not _is_joining(character)


def _is_joining(character: str) -> bool:
    return (
        unicodedata.combining(character) > 0
        or character in _OF_MARKS
        or _COMPOSING.match(character) is not None
    )


def stream_safe(text: str) -> str:
    """The text with a joiner after every 30 marks: normalising takes time square in their number.

    Source: Unicode Standard Annex 15, section 13, Stream-Safe Text Format.
    """
    for mark, marks in _OF_MARKS.items():
        text = text.replace(mark, marks)
    sample = text[:: MARKS_MAX + 1]  # more than 30 marks in a row would include one of these
    if not (any(map(unicodedata.combining, sample)) or _COMPOSING.search(sample)):
        return text
    import numpy as np  # few texts need it, and a command starts sooner without it

    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    is_mark = _is_mark()[np.minimum(codes, _MARKS_END)]
    places = np.arange(codes.size, dtype=np.int32)
    in_row = places - np.maximum.accumulate(np.where(is_mark, np.int32(-1), places))
    joined = np.flatnonzero(is_mark & (in_row > MARKS_MAX) & (in_row % MARKS_MAX == 1))
    safe: bytes = np.insert(codes, joined, _JOINER).tobytes()
    return safe.decode("utf-32-le", "surrogatepass")


@cache
def _is_mark() -> "npt.NDArray[np.bool_]":
    """By code, up to `_MARKS_END`."""
    import numpy as np

    return np.array([_is_joining(chr(code)) for code in range(_MARKS_END + 1)])


def is_blank(text: str) -> bool:
    """Whether nobody sees any of it: white space, control and format characters."""
    starts = range(0, len(text), PART_CHARACTERS_MAX)
    return not any(_VISIBLE.search(text, start, start + PART_CHARACTERS_MAX) for start in starts)


def _unchanged(value: str) -> str:
    return value


@dataclass(frozen=True, slots=True)
class Form:
    """Validates that a pattern matches a whole text; the API description shows the pattern.

    normalise: gives the text the spelling that is matched and stored.
    """

    pattern: re.Pattern[str]
    message: LiteralString
    normalise: Callable[[str], str] = _unchanged

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        # No JSON in UTF-8 holds a lone surrogate, and not every reader of patterns knows characters
        # of more than four digits: the pattern names neither them nor what nobody sees.
        pattern = self.pattern.pattern.replace(SURROGATES, "").replace(INVISIBLE, "")
        return {**handler(schema), "pattern": f"^(?:{pattern})$"}

    def _check(self, value: str) -> str:
        normal = self.normalise(value) if len(value) <= _CHARACTERS_MAX else value
        if self.pattern.fullmatch(normal):
            return normal
        raise PydanticCustomError("form", self.message)
