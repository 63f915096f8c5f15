"""What of a Markdown text gives a later part of the same table, list or code its meaning."""

from collections.abc import Mapping, Sequence

from markdown_it.token import Token

INTRODUCTION_CHARACTERS_MAX = 400  # of a paragraph before a list; a starting value
_COLONS = (":", "\N{FULLWIDTH COLON}")

Span = tuple[int, int]


def repeated_spans(tokens: Sequence[Token], lines: Sequence[int]) -> Mapping[int, tuple[Span, ...]]:
    """By the index of a token, the spans of what it is part of, outermost first.

    These are the paragraph with a colon that introduces a list, the first lines of the items
    around, the header of a table, and the first line of code, which names its language.
    lines: where each line begins, and the end of the text.
    """
    spans: dict[int, tuple[Span, ...]] = {}
    around: list[tuple[Span, ...]] = [()]  # of each open list and item
    row: tuple[Span, ...] = ()
    for index, token in enumerate(tokens):
        match token.type:
            case "inline" | "paragraph_open" | "paragraph_close" if not around[-1]:
                continue
            case "table_row":
                spans[index] = row
                continue
            case "table_header":
                spans[index] = row = _with(around[-1], _first_lines(token, lines, 2))
                continue
            case "fence":
                spans[index] = _with(around[-1], _first_lines(token, lines, 1))
                continue
            case "bullet_list_open" | "ordered_list_open":
                around.append(_with(around[-1], _introduction(tokens, index, lines)))
            case "list_item_open":
                around.append(_with(around[-1], _first_lines(token, lines, 1)))
            case "bullet_list_close" | "ordered_list_close" | "list_item_close":
                around.pop()
        if around[-1]:
            spans[index] = around[-1]
    return spans


def _with(spans: tuple[Span, ...], span: Span | None) -> tuple[Span, ...]:
    """The spans and this one, unless the last one begins on the same line."""
    return spans if span is None or (spans and spans[-1][0] == span[0]) else (*spans, span)


def _first_lines(token: Token, lines: Sequence[int], number: int) -> Span:
    assert token.map is not None
    first = token.map[0]
    return lines[first], lines[min(first + number, len(lines) - 1)]


def _introduction(tokens: Sequence[Token], index: int, lines: Sequence[int]) -> Span | None:
    """The paragraph right before the list that opens at this token, if it ends with a colon."""
    if index < 3 or tokens[index - 1].type != "paragraph_close":
        return None
    content = tokens[index - 2].content
    if not content.endswith(_COLONS) or len(content) > INTRODUCTION_CHARACTERS_MAX:
        return None
    paragraph = tokens[index - 3]
    return _first_lines(paragraph, lines, content.count("\n") + 1)
