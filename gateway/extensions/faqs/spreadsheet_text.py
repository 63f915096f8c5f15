"""The text of a CSV file as spreadsheets write it: its encoding, and a first line `sep=;`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from io import BytesIO, TextIOWrapper
from itertools import chain, islice

from gateway.extension import problems
from gateway.extensions._files import encoding

SEPARATORS = ",;\t"
# Excel reads and writes it, to say what separates the cells.
_SEPARATOR_LINE = re.compile(rf'"?sep=([{SEPARATORS}|])"?\r?\n?', re.IGNORECASE)
_SAID = ("utf-8", "utf-8-sig", "utf-16")  # by a byte order mark, or by all bytes being right
# Of a row: a FAQ has half of it at most. A row is parsed in one call, which keeps the interpreter.
ROW_CHARACTERS_MAX = 131_072
_BLANK_LINES_MAX = 1_000  # above the header


@dataclass(frozen=True, slots=True)
class SpreadsheetText:
    """lines: from the header on, with their ends; of a longer one than a row may be, a part.

    first_line: the header's number in the file. encoding: Python's name. is_guessed: whether it is
    neither marked nor UTF-8.
    """

    lines: Iterator[str]
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
    text, is_guessed = TextIOWrapper(BytesIO(body), name, "replace", newline=""), name not in _SAID
    lines = iter(partial(text.readline, ROW_CHARACTERS_MAX + 1), "")
    numbered = enumerate(lines, 1)
    number, line = next(numbered, (1, ""))
    match = _SEPARATOR_LINE.fullmatch(line)
    if match is not None:
        return SpreadsheetText(lines, match[1], 2, name, is_guessed)
    if not line.strip("\r\n"):
        above = islice(numbered, _BLANK_LINES_MAX)
        number, line = next(filter(lambda each: each[1].strip("\r\n"), above), (1, ""))
    separator = max(SEPARATORS, key=line.count)
    return SpreadsheetText(chain([line], lines), separator, number, name, is_guessed)
