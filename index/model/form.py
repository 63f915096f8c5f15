"""The form of short texts: a pattern for the whole text, and characters that no name holds."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, LiteralString

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

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
_CHARACTERS_MAX = 2_048  # normalising takes time square in the marks on one letter


def composed(text: str) -> str:
    """The text in Unicode's normal form C, as names of files on some systems are not."""
    return unicodedata.normalize("NFC", text)


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
