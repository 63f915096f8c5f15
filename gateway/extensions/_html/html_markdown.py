"""HTML to Markdown, in time and space linear in the length of the HTML.

The parser calls a writer for each tag and text. The writer keeps no tree and never returns to an
earlier part. Indentation and columns are bounded, so the Markdown is linear in the HTML too. Of
links and images only the text remains.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lxml import etree

from gateway.extensions._files.extracted import Unreadable
from gateway.extensions._html.inline_text import InlineText, escape_heading, escape_lines, fenced
from gateway.extensions._html.markdown_table import MarkdownTable, TableTooLarge
from gateway.extensions._html.page_parts import Part, TextBlock, main_content, part_of, prose_size
from gateway.extensions._html.visibility import SHOWN, Hidden, visibility_of
from index.model.document_limits import TEXT_CHARACTERS_MAX

DEPTH_MAX = 1_000  # of elements; a page that a person wrote has less than 100
PREFIXES_MAX = 16  # of nested lists and quotations; deeper ones are not indented
_FEED_BYTES = 65_536
_TOO_LONG = f"has more than {TEXT_CHARACTERS_MAX:,} characters of text"

OMITTED = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "object", "title"})
_APART = frozenset({"button", "input", "legend", "optgroup", "option", "select", "textarea"})
_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*", "del": "~~", "s": "~~"}
_MARKS |= dict.fromkeys(("code", "kbd", "samp"), "`")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    {
        *_HEADINGS, "address", "article", "aside", "blockquote", "body", "caption", "center", "dd",
        "details", "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer",
        "form", "header", "hr", "html", "legend", "li", "main", "ol", "p", "pre", "search",
        "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class MarkdownPage:
    """is_marked: whether the page marks its content, and `text` is only that.

    share: of the page's text that `text` has, without links and what surrounds the content.
    size: of that text. hidden: the number of characters that readers don't see.
    """

    text: str
    title: str | None
    language: str | None
    is_marked: bool
    share: float
    size: int
    hidden: int


def convert(html: str, *, marks_hidden: bool = False) -> MarkdownPage:
    """The page as Markdown; navigation only if the page has no other text.

    marks_hidden: whether text that readers don't see is marked; otherwise it is left out.
    Raises `Unreadable`.
    """
    page = _convert(html, OMITTED | {"nav"}, marks_hidden=marks_hidden)
    if page.text.strip():
        return page
    return _convert(html, OMITTED, marks_hidden=marks_hidden)


def mark_hidden(text: str) -> str:
    """The text as one that readers don't see."""
    words = text.strip()
    return text.replace(words, f"[hidden: {words}]") if words else text


def _convert(html: str, omitted: frozenset[str], *, marks_hidden: bool) -> MarkdownPage:
    writer = _Writer(omitted, marks_hidden=marks_hidden)
    parser = etree.HTMLParser(target=writer, encoding="utf-8", huge_tree=True)
    content = html.encode("utf-8", "replace")
    for start in range(0, len(content), _FEED_BYTES):
        parser.feed(content[start : start + _FEED_BYTES])
    if content:
        parser.close()
    return writer.page()


@dataclass(frozen=True, slots=True)
class _Element:
    hidden: Hidden
    is_omitted: bool
    part: Part | None


@dataclass(slots=True)
class _Container:
    """A list item or quotation. marker: precedes its first line; indent: precedes all others."""

    tag: str
    marker: str
    indent: str


class _Writer:
    """The parser calls its methods."""

    def __init__(self, omitted: frozenset[str], *, marks_hidden: bool) -> None:
        self._omitted = omitted
        self._marks_hidden = marks_hidden
        self._hidden = 0
        self._elements = [_Element(SHOWN, is_omitted=False, part=None)]  # open ones
        self._omitted_depth = 0
        self._in_title = False
        self._title: list[str] = []
        self._language: str | None = None
        self._blocks: list[TextBlock] = []
        self._characters = 0
        self._inline = InlineText()
        self._containers: list[_Container] = []
        self._numbers: list[
            int | None
        ] = []  # the next number of each open list; None: not numbered
        self._heading = 0
        self._pre: list[str] | None = None
        self._table: MarkdownTable | None = None
        self._parts: Counter[Part] = Counter()  # open ones
        self._size = self._linked = 0  # characters since the last block

    # The parser's names.

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if len(self._elements) > DEPTH_MAX:
            raise Unreadable("is nested too deeply")
        if tag == "html" and self._language is None:
            self._language = attributes.get("lang")
        hidden = visibility_of(tag, attributes, self._elements[-1].hidden)
        is_removed = "removed" in hidden and not self._marks_hidden
        element = _Element(hidden, tag in self._omitted or is_removed, part_of(tag, attributes))
        self._elements.append(element)
        if tag in _APART and not self._omitted_depth:
            self._current.add_space()
        if element.is_omitted:
            self._in_title = tag == "title" and not self._omitted_depth and not self._title
            self._omitted_depth += 1
        if self._omitted_depth:
            return
        if tag in _MARKS:
            self._current.open(_MARKS[tag])
        elif tag == "br":
            self._break_line()
        elif tag in _BLOCKS:
            self._flush()
            self._begin(tag, attributes)
        if element.part is not None:
            self._parts[element.part] += 1

    def end(self, tag: str) -> None:
        element = self._elements.pop()
        if not self._omitted_depth:
            if tag in _MARKS:
                self._current.close(_MARKS[tag])
            elif tag in _BLOCKS:
                self._flush()
                self._end(tag)
            elif tag in _APART:
                self._current.add_space()
            if element.part is not None:
                self._parts[element.part] -= 1
        if element.is_omitted:
            self._in_title = False
            self._omitted_depth -= 1

    def data(self, text: str) -> None:
        hidden = self._elements[-1].hidden
        if hidden:
            self._hidden += len(text.strip())
        if self._omitted_depth:
            if self._in_title:
                self._title.append(text)
            return
        if hidden:
            text = mark_hidden(text) if self._marks_hidden else ""
        if self._pre is not None:
            self._pre.append(text)
        else:
            self._current.add(text)
        size = len(text.strip())
        self._size += size
        self._linked += size if self._parts["link"] else 0

    def comment(self, text: str) -> None:
        """Omits it."""

    def close(self) -> None:
        self._flush()

    def page(self) -> MarkdownPage:
        content = main_content(self._blocks)
        return MarkdownPage(
            _join(content.blocks),
            "".join(self._title) or None,
            self._language or None,
            content.is_marked,
            content.share,
            prose_size(self._blocks),
            self._hidden,
        )

    @property
    def _current(self) -> InlineText:
        cell = None if self._table is None else self._table.cell
        return self._inline if cell is None else cell

    @property
    def _in_cell(self) -> bool:
        return self._current is not self._inline

    def _break_line(self) -> None:
        if self._pre is not None:
            self._pre.append("\n")
        elif self._heading or self._in_cell:
            self._current.add_space()
        else:
            self._inline.break_line()

    def _begin(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "table" or self._table is not None:
            self._begin_in_table(tag, attributes)
        if self._in_cell:
            return
        if tag in ("ul", "ol"):
            start = attributes.get("start", "1")
            number = int(start) if re.fullmatch("[0-9]{1,9}", start) else 1
            self._numbers.append(number if tag == "ol" else None)
        elif tag == "li":
            self._enter(tag, self._bullet())
        elif tag == "dd":
            self._enter(tag, ":   ")
        elif tag == "blockquote":
            self._containers.append(_Container(tag, "> ", "> "))
        elif tag == "pre":
            self._pre = []
        elif tag == "hr":
            self._emit("---")
        self._heading = _HEADINGS.get(tag, self._heading)

    def _end(self, tag: str) -> None:
        if self._table is not None:
            self._end_in_table(tag)
        if self._in_cell:
            return
        if tag in ("ul", "ol") and self._numbers:
            self._numbers.pop()
        elif self._containers and self._containers[-1].tag == tag:
            self._containers.pop()
        elif tag in _HEADINGS:
            self._heading = 0

    def _begin_in_table(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._table is None:
            self._table = MarkdownTable()
        elif tag == "table":
            self._table.depth += 1
        elif self._table.depth == 1:
            self._table.begin(tag, attributes)

    def _end_in_table(self, tag: str) -> None:
        assert self._table is not None
        if tag == "table":
            self._table.depth -= 1
            if not self._table.depth:
                table, self._table = self._table, None
                self._emit(_text(table))
        elif self._table.depth == 1:
            self._table.end(tag)

    def _bullet(self) -> str:
        if not self._numbers or self._numbers[-1] is None:
            return "- "
        number = self._numbers[-1]
        self._numbers[-1] = number + 1
        return f"{number}. "

    def _enter(self, tag: str, marker: str) -> None:
        self._containers.append(_Container(tag, marker, " " * len(marker)))

    def _flush(self) -> None:
        """End the block, if one has begun."""
        if self._in_cell:
            self._current.add_space()
            return
        if self._pre is not None:
            code, self._pre = "".join(self._pre).strip("\n").rstrip(), None
            self._emit(fenced(code) if code else "")
            return
        text = self._inline.take()
        if not text:
            return
        if self._heading:
            self._emit(f"{'#' * self._heading} {escape_heading(text)}")
        else:
            self._emit(escape_lines(text))

    def _emit(self, text: str) -> None:
        if not text:
            return
        containers = self._containers[:PREFIXES_MAX]
        marker = "".join(container.marker for container in containers)
        indent = "".join(container.indent for container in containers)
        begins_item = any(container.marker != container.indent for container in containers)
        for container in containers:
            container.marker = container.indent
        lines = marker + text.replace("\n", f"\n{indent}")
        self._characters += len(lines)
        if self._characters > TEXT_CHARACTERS_MAX:
            raise Unreadable(_TOO_LONG)
        in_list = any(container.tag in ("li", "dd") for container in containers)
        joins = begins_item and bool(self._blocks) and self._blocks[-1].in_list
        quotes = sum(container.tag == "blockquote" for container in containers)
        parts = frozenset(part for part, number in self._parts.items() if number)
        block = TextBlock(lines, joins, in_list, quotes, parts, self._size, self._linked)
        self._blocks.append(block)
        self._size = self._linked = 0


def _text(table: MarkdownTable) -> str:
    try:
        return table.text()
    except TableTooLarge:
        raise Unreadable(_TOO_LONG) from None


def _join(blocks: Sequence[TextBlock]) -> str:
    parts: list[str] = []
    for index, block in enumerate(blocks):
        if index:
            before = blocks[index - 1]
            quotes = ">" if min(block.quotes, before.quotes) else ""
            parts.append("\n" if block.joins else f"\n{quotes}\n")
        parts.append(block.text)
    return "".join(parts) + "\n"
