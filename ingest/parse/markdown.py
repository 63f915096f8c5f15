"""Markdown: the title of a text, and its blocks."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ingest.parse.repeated_spans import Span, repeated_spans
from ingest.parse.table_rows import table_rows

TITLE_WITHIN_CHARACTERS = 4_000  # a later heading belongs to a section; not measured
_TITLE_SOON_CHARACTERS = 400  # most titles stand here, so no more is parsed
HEADING_CHARACTERS_MAX = 200  # embedded with every chunk of the section; not measured
HEADING_SOURCE_CHARACTERS_MAX = 2_000  # with its markup; not measured
HEADING_MARKUP_MAX = 64  # marks in a heading: the time to read them grows with their square
LINES_MAX = 100_000  # 2 s: each line is compared with the beginning of each kind of block

# Every character must keep its offset and its block: `normalize` would rewrite line ends, and
# `reference` would remove definitions. Inline markup takes most of the time and is not needed.
BLOCK_PARSER = (
    MarkdownIt("commonmark")
    .enable("table")
    .disable(["normalize", "reference", "inline", "text_join"])
)
BLOCK_PARSER.block.ruler.at("table", table_rows, {"alt": ["paragraph", "reference"]})
INLINE_PARSER = MarkdownIt("commonmark")
# Escapes, code, emphasis, links, HTML, entities and breaks contain one of these. Most headings
# contain none: to parse each of them took as long as to find the blocks of the text.
_INLINE_MARKUP = re.compile(r"[\\`*_\[<&\n\r\0]")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a text: text[start:end], with the blank lines that follow it.

    kind: `code` is code, indented or fenced, and raw HTML.
    level, heading: of a heading, its level from 1 to 6, and its plain text.
    repeated: spans of what a later part of the same table, list or code repeats.
    """

    start: int
    end: int
    kind: Literal["heading", "code", "prose"]
    level: int = 0
    heading: str = ""
    repeated: tuple[Span, ...] = ()


def title(text: str) -> str | None:
    """The first heading with words, as plain text, if it is near the beginning of the text."""
    soon = blocks(text[:_TITLE_SOON_CHARACTERS])[:-1]  # the cut may have changed the last one
    return _first_heading(soon) or _first_heading(blocks(text[:TITLE_WITHIN_CHARACTERS]))


def _first_heading(blocks: Iterable[Block]) -> str | None:
    return next((block.heading for block in blocks if block.heading), None)


def blocks(text: str) -> list[Block]:
    """The blocks of a Markdown text, in order: concatenated they are the text, unless it is blank.

    Paragraphs, list items, table rows and fences are separate blocks, also within lists and
    quotes; a heading within a list or a quote is prose. After LINES_MAX lines there are paragraphs
    only.
    """
    end = _end_of_markdown(text)
    return [*_markdown_blocks(text[:end]), *_paragraphs(text, end)]


def _end_of_markdown(text: str) -> int:
    if text.count("\n") <= LINES_MAX:
        return len(text)
    newlines = re.finditer("\n", text)
    return next(islice(newlines, LINES_MAX - 1, None)).end()


def _paragraphs(text: str, start: int) -> Iterator[Block]:
    ends = (match.end() for match in _PARAGRAPH_END.finditer(text, start))
    for first, last in pairwise((start, *ends, len(text))):
        if first < last:
            yield Block(first, last, "prose")


def _markdown_blocks(text: str) -> list[Block]:
    tokens = BLOCK_PARSER.parse(text)
    # A container opens on the line of its first content; the innermost token decides the kind.
    opening = {
        token.map[0]: index
        for index, token in enumerate(tokens)
        if token.map and token.type != "inline"
    }
    lines = [0, *(newline.end() for newline in re.finditer("\n", text))]
    bounds = [0, *(lines[line] for line in list(opening)[1:]), len(text)]
    repeated = repeated_spans(tokens, [*lines, len(text)])
    return [
        _block(tokens, index, start, end, repeated.get(index, ()))
        for index, (start, end) in zip(opening.values(), pairwise(bounds), strict=False)
    ]


def _block(
    tokens: Sequence[Token], index: int, start: int, end: int, repeated: tuple[Span, ...]
) -> Block:
    token = tokens[index]
    match token.type:
        case "heading_open" if token.level == 0:
            heading = _plain_text(tokens[index + 1].content)
            return Block(start, end, "heading", int(token.tag.removeprefix("h")), heading)
        case "fence" | "code_block" | "html_block":
            return Block(start, end, "code", repeated=repeated)
        case _:
            return Block(start, end, "prose", repeated=repeated)


def _plain_text(markup: str) -> str:
    text = markup[:HEADING_SOURCE_CHARACTERS_MAX]
    if 0 < len(_INLINE_MARKUP.findall(text)) <= HEADING_MARKUP_MAX:
        (inline,) = INLINE_PARSER.parseInline(text)
        text = "".join(
            " " if token.type.endswith("break") else token.content
            for token in inline.children or ()
            if token.type != "html_inline"
        )
    return " ".join(text.split())[:HEADING_CHARACTERS_MAX]
