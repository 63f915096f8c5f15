"""The Markdown of one block: spaces are collapsed, and words are marked."""

import re
from itertools import count

_CODE = "`"
_SPACE = re.compile(r"[ \t\r\n\f]+")
_BACKTICKS = re.compile("`+")
# What has a meaning in Markdown, within a line: escapes, code, emphasis, HTML, entities and links.
_INLINE_MARK = re.compile(
    r"""[\\`*_~<&\[](?:  # beginning with a set of characters makes the search ten times as fast
        (?<=[`*])
      | (?<=\\) (?=[!-/:-@\[-`{-~]|$)
      | (?<=_) (?: (?<![^\W_]_) | (?![^\W_]) )
      | (?<=~) (?: (?=~) | (?<=~~) )
      | (?<=<) (?=[A-Za-z/!?])
      | (?<=&) (?=\#?\w{1,32};)
      | (?<=\[) (?=[^\[\]]{0,200}\]\()
    )""",
    re.VERBOSE,
)
# And at its beginning: headings, quotations, items, definitions, and a line that makes a heading or
# a table of the one before. A backslash stands after what matches.
_LINE_MARK = re.compile(
    r"(?=\#{1,6}(?:\s|$)|>|[-+](?:\s|$)|\[[^\[\]]{1,200}\]:|[-=:|][-=:| ]*$)"
    r"|\d{1,9}(?=[.)](?:\s|$))"
)
_CLOSING_MARK = re.compile(r"(?:^|(?<=\s))(?=\#+$)")


def fenced(code: str) -> str:
    """The code in a fence that no line of it closes."""
    fence = _CODE * max([3, *(len(run) + 1 for run in _BACKTICKS.findall(code))])
    return f"{fence}\n{code}\n{fence}"


def escape_lines(text: str) -> str:
    """The text of a paragraph, in which no line begins as another kind of block does."""
    return "\n".join(map(_escape_line, text.split("\n")))


def _escape_line(line: str) -> str:
    mark = _LINE_MARK.match(line)
    return line if mark is None else f"{mark[0]}\\{line[mark.end() :]}"


def escape_heading(text: str) -> str:
    """The text of a heading, of which Markdown would remove `#` at the end."""
    return _CLOSING_MARK.sub(r"\\", text) if text.endswith("#") else text


class InlineText:
    """The text of one block, with spaces collapsed and marks around words."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._run: list[str] = []  # text since the last mark; the parser parts it at references
        self._has_space = False
        self._is_line_begun = False
        self._open: dict[str, int] = {}  # open marks in their order, with their depth
        self._pending: list[str] = []  # open marks that no text follows yet
        self._written: set[str] = set()
        self._code_begin = 0  # the part that opens code

    def add(self, text: str) -> None:
        flat = _SPACE.sub(" ", text)
        words = flat.strip(" ")
        if not words:
            self._has_space = self._has_space or bool(flat)
            return
        if (self._has_space or flat.startswith(" ")) and self._is_line_begun:
            self._run.append(" ")
        if self._pending:
            self._end_run()
            if _CODE in self._pending:
                self._code_begin = len(self._parts) + self._pending.index(_CODE)
            self._parts += self._pending
            self._written.update(self._pending)
            self._pending.clear()
        self._run.append(words)
        self._has_space = flat.endswith(" ")
        self._is_line_begun = True

    def add_space(self) -> None:
        self._has_space = True

    def break_line(self) -> None:
        self._end_run()
        self._parts.append("  \n")
        self._has_space = self._is_line_begun = False

    def open(self, mark: str) -> None:
        depth = self._open.get(mark, 0)
        if not depth and _CODE not in self._open:
            self._pending.append(mark)
        self._open[mark] = depth + 1

    def close(self, mark: str) -> None:
        depth = self._open.get(mark, 0)
        if depth > 1:
            self._open[mark] = depth - 1
        elif depth == 1:
            del self._open[mark]
            self._hide(mark)

    def take(self) -> str:
        """Return the text so far and start anew; open marks continue in the next text."""
        if not self._parts and not self._run:
            self._has_space = False
            return ""
        for mark in reversed([mark for mark in self._open if mark in self._written]):
            self._hide(mark)
            self._pending.append(mark)
        self._end_run()
        text = "".join(self._parts).strip(" \n")
        self._parts.clear()
        self._has_space = self._is_line_begun = False
        return text

    def _end_run(self) -> None:
        if self._run:
            text = "".join(self._run)
            is_code = _CODE in self._written
            self._parts.append(text if is_code else _INLINE_MARK.sub(r"\\\g<0>", text))
            self._run.clear()

    def _hide(self, mark: str) -> None:
        if mark in self._pending:
            self._pending.remove(mark)
        elif mark in self._written:
            self._end_run()
            self._written.discard(mark)
            self._parts.append(self._close_code() if mark == _CODE else mark)

    def _close_code(self) -> str:
        """Make the mark that opened the code one that is not in it; return what closes it."""
        code = "".join(self._parts[self._code_begin + 1 :])
        lengths = set(map(len, _BACKTICKS.findall(code)))
        mark = _CODE * next(length for length in count(1) if length not in lengths)
        space = " " if code.startswith(_CODE) or code.endswith(_CODE) else ""
        self._parts[self._code_begin] = mark + space
        return space + mark
