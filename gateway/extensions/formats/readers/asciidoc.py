"""AsciiDoc, line by line: no library reads it in Python. What it does not know stays as text."""

import re
from collections.abc import Iterator

from gateway.extensions._files import encoding
from gateway.extensions._files.extracted import Extracted, ReadOptions
from gateway.extensions.formats.readers.source_code import fenced

_HEADING = re.compile(r"(={1,6})[ \t]+(\S.*)")
_ATTRIBUTE = re.compile(r":!?([\w-]{1,80})!?:[ \t]*(.*)")
_BLOCK_ATTRIBUTES = re.compile(r"\[.{0,1000}\]")
_LANGUAGE = re.compile(r"\[source%?[^,\]]*,[ \t]*([\w+#-]{1,20})")
_VERBATIM = re.compile(r"-{4,}|\.{4,}|`{3,}(\w*)")
_COMMENT = re.compile(r"/{4,}")
_DELIMITER = re.compile(r"={4,}|\*{4,}|_{4,}|\+{4,}|--|\+|<<<|'''")
_TABLE = re.compile(r"[|,:!]={3,}")
_COLUMNS = re.compile(r"""cols=["']?([^"'\]]{1,200})""")
_CELL = re.compile(r"(?<!\\)(?:[\d.+<>^*aehlmsv]{0,12})\|")
_TITLE = re.compile(r"\.([^ .].*)")
_ITEM = re.compile(r"[ \t]*(\*{1,6}|-|\.{1,6})[ \t]+(\S.*)")
_MACRO = re.compile(r"(image|video|audio|include)::([^\[]{0,500})\[([^\]]{0,500})\]")
_LINK = re.compile(
    r"(?:(?:link|xref|mailto):[^\s\[]{1,500}|https?://[^\s\[]{1,500})\[([^\]]{1,500})\]"
)
_REFERENCE = re.compile(r"<<[^,>]{1,200},[ ]?([^>]{1,200})>>")
_VALUE = re.compile(r"\{([\w-]{1,80})\}")


def read(content: bytes, _options: ReadOptions) -> Extracted:
    """Raises `Unreadable`."""
    text = encoding.decode(content)
    converter = _Converter(text.splitlines())
    markdown = "\n".join(converter.lines())
    losses = ["files that it includes are not read"] if converter.includes else []
    return Extracted(markdown, losses=losses)


class _Converter:
    """includes: whether the text includes files, once its lines are read."""

    def __init__(self, lines: list[str]) -> None:
        self.includes = False
        self._rest = iter(lines)
        self._attributes: dict[str, str] = {}
        self._language = ""
        self._columns = 0

    def lines(self) -> Iterator[str]:
        for line in self._rest:
            yield from self._line(line.rstrip())

    def _line(self, line: str) -> Iterator[str]:
        if _COMMENT.fullmatch(line):
            list(self._until(line))
        elif _VERBATIM.fullmatch(line):
            code = "\n".join(self._until(line.rstrip("abcdefghijklmnopqrstuvwxyz")))
            yield from ("", fenced(code, self._language), "")
            self._language = ""
        elif _TABLE.fullmatch(line):
            yield from ("", *self._table(list(self._until(line))), "")
            self._columns = 0
        elif attribute := _ATTRIBUTE.fullmatch(line):
            self._attributes[attribute[1]] = attribute[2]
        elif _BLOCK_ATTRIBUTES.fullmatch(line):
            self._note_attributes(line)
        elif macro := _MACRO.fullmatch(line):
            self.includes = self.includes or macro[1] == "include"
            yield "" if macro[1] == "include" else macro[3].partition(",")[0].strip('"')
        elif not line.startswith("//") and not _DELIMITER.fullmatch(line):
            yield self._text(line)

    def _until(self, end: str) -> Iterator[str]:
        """The lines before the one that ends the block."""
        for line in self._rest:
            if line.rstrip() == end:
                return
            yield line

    def _note_attributes(self, line: str) -> None:
        if language := _LANGUAGE.match(line):
            self._language = language[1]
        if columns := _COLUMNS.search(line):
            repeated = re.fullmatch(r"(\d{1,3})\*.*", columns[1])
            self._columns = int(repeated[1]) if repeated else columns[1].count(",") + 1

    def _text(self, line: str) -> str:
        line = _VALUE.sub(lambda name: self._attributes.get(name[1], name[0])[:1_000], line)
        line = _REFERENCE.sub(r"\1", _LINK.sub(r"\1", line))
        if heading := _HEADING.fullmatch(line):
            return f"\n{'#' * len(heading[1])} {heading[2]}\n"
        if item := _ITEM.fullmatch(line):
            marker = "1." if item[1].startswith(".") else "-"
            return f"{'   ' * (len(item[1]) - 1)}{marker} {item[2]}"
        if title := _TITLE.fullmatch(line):
            return f"\n**{title[1]}**\n"
        return line

    def _table(self, lines: list[str]) -> Iterator[str]:
        """A row for as many cells as the table has columns: by `cols`, else as its first line."""
        lines = list(filter(None, lines))
        rows = [[self._text(cell.strip()) for cell in _CELL.split(line)[1:]] for line in lines]
        columns = self._columns or next((len(row) for row in rows if row), 1)
        cells: list[str] = []
        for line, row in zip(lines, rows, strict=True):
            if row:
                cells += row
            elif cells:  # the cell goes on
                cells[-1] = f"{cells[-1]} {line.strip()}"
        for start in range(0, len(cells), columns):
            yield f"| {' | '.join(cells[start : start + columns])} |"
            if start == 0:
                yield f"|{' --- |' * columns}"
