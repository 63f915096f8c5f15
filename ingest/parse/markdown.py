"""Markdown: the front matter of a text, its title, and its blocks."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice, pairwise
from typing import Any, Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pydantic import ValidationError

from index.model.relations import RelatesTo, with_relations
from ingest.parse import safe_yaml
from ingest.parse.repeated_spans import Span, repeated_spans
from ingest.parse.table_rows import table_rows

FRONT_MATTER_CHARACTERS_MAX = 16_384  # 0.1 s: PyYAML reads 150 kB/s
TITLE_WITHIN_CHARACTERS = 4_000  # a later heading belongs to a section; not measured
_TITLE_SOON_CHARACTERS = 400  # most titles stand here, so no more is parsed
HEADING_CHARACTERS_MAX = 200  # embedded with every chunk of the section; not measured
HEADING_SOURCE_CHARACTERS_MAX = 2_000  # with its markup; not measured
HEADING_MARKUP_MAX = 64  # marks in a heading: the time to read them grows with their square
LINES_MAX = 100_000  # 2 s: each line is compared with the beginning of each kind of block

ACCESS = frozenset({"readers", "owner"})
LOOKALIKES = ACCESS | {"reader", "owners", "acl", "access", "permissions"}
FIELDS = frozenset(
    {
        "title",
        "language",
        "tags",
        "readers",
        "owner",
        "uri",
        "metadata",
        "chunker",
        "summaries",
        "active",
    }
)

FENCE = re.compile(r"^---[ \t]*$\n?", re.MULTILINE)

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


class FrontMatterError(ValueError):
    """The front matter of a text cannot be read."""


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


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Split a text into the fields of its front matter and the Markdown after it.

    A text that begins with a line of `---` has front matter: YAML up to the next such line.
    Keys that are no field of a document go into its metadata, and so do the relations of
    `relates_to`; dates become ISO 8601 text.
    The values are otherwise not validated.

    Raises `FrontMatterError` if the front matter is not closed, too long, not YAML or no mapping.
    """
    opening = FENCE.match(text, len(text) - len(text.lstrip()))
    if opening is None:
        return {}, text
    closing = FENCE.search(text, opening.end())
    # As Markdown it would lose its own readers, and the folder's readers could read it.
    if closing is None:
        raise FrontMatterError("front matter: must be closed by a line of ---")
    mapping = _parse_mapping(text[opening.end() : closing.start()])
    refuse_lookalikes(mapping)
    fields = {key: mapping.pop(key) for key in FIELDS & mapping.keys()}
    if "active" in fields:
        fields["is_active"] = fields.pop("active")
        if not isinstance(fields["is_active"], bool):
            raise FrontMatterError("active: must be true or false")
    relates_to = mapping.pop("relates_to", None)
    metadata = fields.get("metadata", {})
    if not isinstance(metadata, dict):
        raise FrontMatterError("metadata: must be a mapping")
    metadata = _with_relations(mapping | metadata, relates_to)
    return fields | {"metadata": metadata}, text[closing.end() :]


def _with_relations(metadata: dict[Any, Any], relates_to: object) -> dict[Any, Any]:
    if relates_to is None:
        return metadata
    try:
        return with_relations(metadata, RelatesTo.model_validate(relates_to))
    except ValidationError as error:
        names = {".".join(map(str, each["loc"][:1])) for each in error.errors()}
        raise FrontMatterError(
            f"relates_to: {', '.join(sorted(names)) or 'it'} must be follows, replaces, causes or "
            "part_of, with the identifier of a document or a list of them"
        ) from None
    except ValueError as error:
        raise FrontMatterError(f"relates_to: {error}") from None


def refuse_lookalikes(keys: Collection[Any]) -> None:
    """Raise `FrontMatterError` for a misspelt `readers`, which would not restrict the document."""
    for key in keys:
        if key not in ACCESS and str(key).casefold().strip() in LOOKALIKES:
            raise FrontMatterError(f"{key}: not a field; readers and owner define who may read")


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


def _parse_mapping(source: str) -> dict[Any, Any]:
    if len(source) > FRONT_MATTER_CHARACTERS_MAX:
        raise FrontMatterError(f"front matter: over {FRONT_MATTER_CHARACTERS_MAX:,} characters")
    value = _parse_yaml(source)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise FrontMatterError("front matter: must be a mapping of keys to values")
    return {key: _dates_as_text(item) for key, item in value.items()}


def _parse_yaml(source: str) -> Any:
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
