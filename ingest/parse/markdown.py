"""Markdown: the front matter of a text, its title, and the blocks that it is made of."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Any, Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ingest.parse import safe_yaml

FRONT_MATTER_CHARACTERS_MAX = 16_384  # 0.1 s: PyYAML reads 150 kB/s
TITLE_WITHIN_CHARACTERS = 4_000  # a later heading is of a part; not measured
_TITLE_SOON_CHARACTERS = 400  # where it mostly stands, so that no more is read
HEADING_CHARACTERS_MAX = 200  # it is embedded with every chunk of its section; not measured
HEADING_SOURCE_CHARACTERS_MAX = 2_000  # the same with its markup; not measured

ACCESS = frozenset({"readers", "owner"})
LOOKALIKES = ACCESS | {"reader", "owners", "acl", "access", "permissions"}
FIELDS = frozenset(
    {"title", "language", "tags", "readers", "owner", "uri", "metadata", "cut", "summaries"}
)

FENCE = re.compile(r"^---[ \t]*$\n?", re.MULTILINE)

# Every character shall stay in its place and in a block: `normalize` would rewrite line ends,
# `reference` make definitions vanish. Inline markup costs most of the time and is not asked for.
BLOCK_PARSER = (
    MarkdownIt("commonmark")
    .enable("table")
    .disable(["normalize", "reference", "inline", "text_join"])
)
INLINE_PARSER = MarkdownIt("commonmark")


class FrontMatterError(ValueError):
    """The front matter of a text cannot be read."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a text: text[start:end], with the blank lines that follow it.

    kind: `code` is what is written in lines: code, indented or fenced, and raw HTML.
    level, heading: a heading's level, 1 to 6, and its plain text.
    """

    start: int
    end: int
    kind: Literal["heading", "code", "prose"]
    level: int = 0
    heading: str = ""


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Part a text into the fields of its front matter and the Markdown after it.

    A text that begins with a line of `---` has front matter: YAML up to the next such line.
    Keys that are no field of a document go into its metadata, dates become ISO 8601 text;
    the values are otherwise as YAML gives them, for the document to check.

    Raises FrontMatterError if it is never closed, too long, not YAML or not a mapping.
    """
    opening = FENCE.match(text, len(text) - len(text.lstrip()))
    if opening is None:
        return {}, text
    closing = FENCE.search(text, opening.end())
    # Taken for Markdown, it would lose its readers and be shown to those of the folder.
    if closing is None:
        raise FrontMatterError("front matter: must be closed by a line of ---")
    written = _mapping(text[opening.end() : closing.start()])
    refuse_lookalikes(written)
    fields = {key: written.pop(key) for key in FIELDS & written.keys()}
    metadata = fields.get("metadata", {})
    if not isinstance(metadata, dict):
        raise FrontMatterError("metadata: must be a mapping")
    return fields | {"metadata": written | metadata}, text[closing.end() :]


def refuse_lookalikes(written: Collection[Any]) -> None:
    """Misspelt readers would be metadata, and the document readable to those of the folder."""
    for key in written:
        if key not in ACCESS and str(key).casefold().strip() in LOOKALIKES:
            raise FrontMatterError(f"{key}: who may read is said by readers and owner")


def title(text: str) -> str | None:
    """The first heading of a text that has words, as plain text, if it is near the beginning."""
    soon = blocks(text[:_TITLE_SOON_CHARACTERS])[:-1]  # the cut may have made the last a heading
    return _first_heading(soon) or _first_heading(blocks(text[:TITLE_WITHIN_CHARACTERS]))


def _first_heading(blocks: Iterable[Block]) -> str | None:
    return next((block.heading for block in blocks if block.heading), None)


def blocks(text: str) -> list[Block]:
    """The blocks of a Markdown text, in order: end to end they are the text, unless it is blank.

    Paragraphs, list items, table rows and fences are blocks of their own, however deep they
    stand in lists and quotes; a heading counts only where it stands in neither.
    """
    tokens = BLOCK_PARSER.parse(text)
    # Containers open on the line of their first content; the innermost token says what it is.
    opening = {
        token.map[0]: index
        for index, token in enumerate(tokens)
        if token.map and token.type != "inline"
    }
    lines = [0, *(newline.end() for newline in re.finditer("\n", text))]
    bounds = [0, *(lines[line] for line in list(opening)[1:]), len(text)]
    return [
        _block(tokens, index, start, end)
        for index, (start, end) in zip(opening.values(), pairwise(bounds), strict=False)
    ]


def _block(tokens: Sequence[Token], index: int, start: int, end: int) -> Block:
    token = tokens[index]
    match token.type:
        case "heading_open" if token.level == 0:
            heading = _plain(tokens[index + 1].content)
            return Block(start, end, "heading", int(token.tag.removeprefix("h")), heading)
        case "fence" | "code_block" | "html_block":
            return Block(start, end, "code")
        case _:
            return Block(start, end, "prose")


def _plain(markup: str) -> str:
    (inline,) = INLINE_PARSER.parseInline(markup[:HEADING_SOURCE_CHARACTERS_MAX])
    words = "".join(
        " " if token.type.endswith("break") else token.content
        for token in inline.children or ()
        if token.type != "html_inline"
    )
    return " ".join(words.split())[:HEADING_CHARACTERS_MAX]


def _mapping(source: str) -> dict[Any, Any]:
    if len(source) > FRONT_MATTER_CHARACTERS_MAX:
        raise FrontMatterError(f"front matter: over {FRONT_MATTER_CHARACTERS_MAX} characters")
    value = _yaml(source)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise FrontMatterError("front matter: must be a mapping of keys to values")
    return {key: _dates_as_text(item) for key, item in value.items()}


def _yaml(source: str) -> Any:
    try:
        return safe_yaml.load(source)
    except safe_yaml.NotYaml as error:
        where = f", line {error.line + 1}" if error.line else ": not YAML"
        raise FrontMatterError(f"front matter{where}: {error}") from error


def _dates_as_text(value: Any) -> Any:
    match value:
        case date():
            return value.isoformat()
        case list():
            return [_dates_as_text(item) for item in value]
        case dict():
            return {key: _dates_as_text(item) for key, item in value.items()}
        case _:
            return value
