"""Source code: fenced, with a heading for each definition that begins a line."""

import re

from gateway.extensions._files import encoding
from gateway.extensions._files.extracted import Extracted, ReadOptions

# One pattern for all languages: words that only qualify, the keyword, and the name.
_DEFINITION = re.compile(
    r"^(?:(?:export|default|public|private|protected|internal|static|async|abstract|final|sealed|"
    r"open|data|unsafe|extern|inline|virtual|partial|declare|pub(?:\([a-z]{1,9}\))?|"
    r"local|create|or|replace)[ \t]+){0,6}"
    r"(?:class|def|func|fun|function|fn|sub|interface|struct|enum|trait|impl|module|namespace|"
    r"protocol|record|object|type|defmodule|table|view|procedure|trigger|resource)\b[ \t]+"
    r"(?:\([^)\n]{0,80}\)[ \t]*)?(?P<name>\w(?:[\w.:$]{0,78}[\w$])?)",
    re.MULTILINE | re.IGNORECASE,
)
_ABOVE = re.compile(r"(?:^(?:[@#/*-]|[ \t]*\*)[^\n]*\n)+\Z", re.MULTILINE)
_ABOVE_CHARACTERS = 2_000  # that comments and decorators above a definition may have


def read(content: bytes, _options: ReadOptions, *, language: str) -> Extracted:
    """language: of the fences. Raises `Unreadable`."""
    code = encoding.decode(content)
    parts: list[str] = []
    start, heading = 0, ""
    for definition in _DEFINITION.finditer(code):
        end = _start_with_comments(code, start, definition.start())
        parts += [heading, fenced(code[start:end], language)]
        start, heading = end, f"## {definition['name']}"
    parts += [heading, fenced(code[start:], language)]
    return Extracted("\n\n".join(filter(None, parts)), title="")


def fenced(code: str, language: str = "") -> str:
    """A fenced block; empty for code without words."""
    code = code.strip("\n").rstrip()
    if not code.strip():
        return ""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def _start_with_comments(code: str, after: int, start: int) -> int:
    """Where the comments and decorators right above a definition begin."""
    above = code[max(after, start - _ABOVE_CHARACTERS) : start]
    found = _ABOVE.search(above)
    return start if found is None else start - len(found[0])
