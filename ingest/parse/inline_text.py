"""The Markdown of one block: spaces are collapsed, and words are marked."""

import re

_CODE = "`"
_SPACE = re.compile(r"[ \t\r\n\f]+")


class InlineText:
    """The text of one block, with spaces collapsed and marks around words."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._has_space = False
        self._open: dict[str, int] = {}  # open marks in their order, with their depth
        self._pending: list[str] = []  # open marks that no text follows yet
        self._written: set[str] = set()

    def add(self, text: str) -> None:
        flat = _SPACE.sub(" ", text)
        words = flat.strip(" ")
        if not words:
            self._has_space = self._has_space or bool(flat)
            return
        if (self._has_space or flat.startswith(" ")) and self._parts:
            self._parts.append(" ")
        self._parts += self._pending
        self._written.update(self._pending)
        self._pending.clear()
        is_code = _CODE in self._open
        self._parts.append(words if is_code else words.replace("*", r"\*").replace("_", r"\_"))
        self._has_space = flat.endswith(" ")

    def add_space(self) -> None:
        self._has_space = True

    def break_line(self) -> None:
        self._parts.append("  \n")
        self._has_space = False

    def open(self, mark: str) -> None:
        count = self._open.get(mark, 0)
        if not count and _CODE not in self._open:
            self._pending.append(mark)
        self._open[mark] = count + 1

    def close(self, mark: str) -> None:
        count = self._open.get(mark, 0)
        if count > 1:
            self._open[mark] = count - 1
        elif count == 1:
            del self._open[mark]
            self._hide(mark)

    def take(self) -> str:
        """Return the text so far and start anew; open marks continue in the next text."""
        for mark in reversed([mark for mark in self._open if mark in self._written]):
            self._hide(mark)
            self._pending.append(mark)
        text = "".join(self._parts).strip(" \n")
        self._parts.clear()
        self._has_space = False
        return text

    def _hide(self, mark: str) -> None:
        if mark in self._pending:
            self._pending.remove(mark)
        elif mark in self._written:
            self._written.discard(mark)
            self._parts.append(mark)
