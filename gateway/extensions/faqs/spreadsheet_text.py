"""The text of a CSV file as spreadsheets write it: its encoding, and a first line `sep=;`."""

import re
from dataclasses import dataclass
from io import BytesIO

from gateway.extension import problems
from ingest.parse import encoding

SEPARATORS = ",;\t"
# Excel reads and writes it, to say what separates the cells.
_SEPARATOR_LINE = re.compile(rf'"?sep=([{SEPARATORS}|])"?\r?(?:\n|\Z)', re.IGNORECASE)
_SAID = ("utf-8", "utf-8-sig", "utf-16")  # by a byte order mark, or by all bytes being right


@dataclass(frozen=True, slots=True)
class SpreadsheetText:
    """text: from the header on. first_line: its number in the file.

    encoding: Python's name. is_guessed: whether it is neither marked nor UTF-8.
    """

    text: str
    separator: str
    first_line: int
    encoding: str
    is_guessed: bool


def read(body: bytes) -> SpreadsheetText:
    """Raises a 400 `Problem` for a body that is no text."""
    try:
        name = encoding.encoding_of(BytesIO(body))
    except encoding.NotText:
        raise problems.malformed("The body must be text.") from None
    text, is_guessed = body.decode(name, "replace"), name not in _SAID
    match = _SEPARATOR_LINE.match(text)
    if match is not None:
        return SpreadsheetText(text[match.end() :], match[1], 2, name, is_guessed)
    head = text.lstrip("\r\n").partition("\n")[0]
    return SpreadsheetText(text, max(SEPARATORS, key=head.count), 1, name, is_guessed)
