"""A table in Markdown, written cell by cell."""

import re

from ingest.parse.inline_text import InlineText

COLUMNS_MAX = 32  # that one cell spans at most


class MarkdownTable:
    """The outermost table; a table within its cells becomes text."""

    def __init__(self) -> None:
        self.depth = 1
        self.cell: InlineText | None = None
        self._span = 1
        self._rows: list[list[str]] = []
        self._has_header = False

    def begin_row(self) -> None:
        self._rows.append([])

    def begin_cell(self, tag: str, span: str) -> None:
        if not self._rows:
            self.begin_row()
        row = self._rows[-1]
        if len(self._rows) == 1:
            self._has_header = tag == "th" and (self._has_header or not row)
        self.cell = InlineText()
        self._span = min(int(span), COLUMNS_MAX) if re.fullmatch("[0-9]{1,9}", span) else 1

    def end_cell(self) -> None:
        if self.cell is not None:
            text = self.cell.take().replace("  \n", " ")
            self._rows[-1] += [text, *[""] * (self._span - 1)]
            self.cell = None

    def text(self) -> str:
        rows = [row for row in self._rows if row]
        if not rows:
            return ""
        lines = [f"| {' | '.join(row)} |" for row in rows]
        width = len(rows[0])
        line = f"| {' | '.join(['---'] * width)} |"
        if self._has_header:
            return "\n".join([lines[0], line, *lines[1:]])
        return "\n".join([f"| {' | '.join([''] * width)} |", line, *lines])
