"""The form of short texts: a pattern for the whole text, and characters that no name holds."""

import re
import unicodedata
from collections.abc import Callable
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
# The format characters of Unicode 15.1 (category Cf), which nobody sees or which reorder what one
# sees, and the separators of lines and paragraphs. Scripts and emoji need U+200C and U+200D.
INVISIBLE = (
    r"\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b\u200e\u200f\u2028-\u202e"
    r"\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
)

_VISIBLE = re.compile(rf"[^\s{CONTROLS}{INVISIBLE}\u200c\u200d]")
_CHARACTERS_MAX = 2_048
MARKS_MAX = 30  # on one letter; UAX 15, section 13
_JOINER = 0x034F
_MARKS_END = 0x1_E94B  # no mark of Unicode 15.1 has a higher code
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


def stream_safe(text: str) -> str:
    """The text with a joiner after every 30 marks: normalising takes time square in their number.

    Source: Unicode Standard Annex 15, section 13, Stream-Safe Text Format.
    """
    for mark, marks in _OF_MARKS.items():
        text = text.replace(mark, marks)
    if not any(map(unicodedata.combining, text[:: MARKS_MAX + 1])):
        return text  # more than 30 marks in a row would include one of these
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

    return np.array([unicodedata.combining(chr(code)) > 0 for code in range(_MARKS_END + 1)])


def is_blank(text: str) -> bool:
    """Whether nobody sees any of it: white space, control and format characters."""
    return not _VISIBLE.search(text)


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
