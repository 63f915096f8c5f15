"""Finds the tables of a Markdown text: a rule of `markdown_it` that makes a token for each row.

Its own rule makes three tokens for each cell, in 400 bytes each, and a text of 2 MB may have a
million cells.
"""

from markdown_it.rules_block import StateBlock, table


def table_rows(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:  # noqa: FBT001  markdown_it calls it by position
    """A token for each row; the line of delimiters belongs to the header, and has none."""
    if not table(state, start_line, end_line, True):
        return False
    if silent:
        return True
    parent_type, state.parentType = state.parentType, "table"
    _push_row(state, start_line, "table_header")
    line = start_line + 2
    while line < end_line and _is_row(state, line, end_line):
        _push_row(state, line, "table_row")
        line += 1
    state.parentType = parent_type
    state.line = line
    return True


def _push_row(state: StateBlock, line: int, kind: str) -> None:
    state.push(kind, "tr", 0).map = [line, line + 1]


def _is_row(state: StateBlock, line: int, end_line: int) -> bool:
    if state.sCount[line] < state.blkIndent or state.is_code_block(line) or state.isEmpty(line):
        return False
    ends = state.md.block.ruler.getRules("blockquote")  # what ends a quote ends a table
    return not any(rule(state, line, end_line, True) for rule in ends)
