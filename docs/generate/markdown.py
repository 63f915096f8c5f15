"""Markdown made of values: tables and the cells in them."""

from collections.abc import Iterable, Sequence

NOTE = "`make docs` writes this page from {source}; edit that, not this page."


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, or nothing if it has no rows."""
    lines = [_row(cells) for cells in rows]
    if not lines:
        return ""
    return "\n".join([_row(head), "|" + "---|" * len(head), *lines])


def code(value: object) -> str:
    """The value as code; nothing for an empty one. A bar would end the table's cell."""
    text = str(value).replace("|", "\\|")
    return f"`{text}`" if text else ""


def join(*parts: str) -> str:
    """The parts, with an empty line between them."""
    return "\n\n".join(part for part in parts if part) + "\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("\n", " ") for cell in cells) + " |"
