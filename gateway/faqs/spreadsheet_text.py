"""The text of a CSV file as spreadsheets write it: its encoding, and a first line `sep=;`."""

import codecs
import re
from dataclasses import dataclass

from gateway import problems

SEPARATORS = ",;\t"
# Excel reads and writes it, to say what separates the cells.
_SEPARATOR_LINE = re.compile(rf'"?sep=([{SEPARATORS}|])"?\r?(?:\n|\Z)', re.IGNORECASE)
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_GUESS = "cp1252"


@dataclass(frozen=True, slots=True)
class SpreadsheetText:
    """text: from the header on. first_line: its number in the file.

    is_guessed: whether the encoding is neither marked nor UTF-8, and was taken for Windows-1252.
    """

    text: str
    separator: str
    first_line: int
    is_guessed: bool


def read(body: bytes) -> SpreadsheetText:
    """Raises a 400 `Problem` for a body in no such encoding."""
    text, is_guessed = _decode(body)
    match = _SEPARATOR_LINE.match(text)
    if match is not None:
        return SpreadsheetText(text[match.end() :], match[1], 2, is_guessed)
    head = text.lstrip("\r\n").partition("\n")[0]
    return SpreadsheetText(text, max(SEPARATORS, key=head.count), 1, is_guessed)


def _decode(body: bytes) -> tuple[str, bool]:
    """The text, and whether its encoding was guessed."""
    for mark, encoding in _MARKS.items():
        if body.startswith(mark):
            try:
                return body[len(mark) :].decode(encoding), False
            except UnicodeDecodeError:
                raise problems.malformed(
                    f"The body is not {encoding.upper()}, as its byte order mark says."
                ) from None
    try:
        return body.decode(), False
    except UnicodeDecodeError:
        pass
    try:
        return body.decode(_GUESS), True
    except UnicodeDecodeError:
        raise problems.malformed("The body must be UTF-8, or Windows-1252.") from None
