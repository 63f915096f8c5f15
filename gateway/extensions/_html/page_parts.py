"""Which blocks of a page are its content, by the parts that the page marks and what they hold."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

# link: counted within a block; the others hold whole blocks.
Part: TypeAlias = Literal["main", "article", "surroundings", "link"]

_PARTS: Mapping[str, Part] = {
    "main": "main",
    "article": "article",
    "header": "surroundings",
    "footer": "surroundings",
    "aside": "surroundings",
    "nav": "surroundings",
    "banner": "surroundings",  # these are roles
    "contentinfo": "surroundings",
    "complementary": "surroundings",
    "navigation": "surroundings",
    "search": "surroundings",
    "a": "link",
}
_CONTENT: tuple[Part, ...] = ("main", "article")
_ROLES = _PARTS.keys() - {"a", "header", "footer", "aside", "nav"}


@dataclass(frozen=True, slots=True)
class TextBlock:
    """joins: no blank line precedes it. quotes: the number of quotations around it.

    size: the characters of its words. linked: how many of them are links.
    """

    text: str
    joins: bool
    in_list: bool
    quotes: int
    parts: frozenset[Part] = frozenset()
    size: int = 0
    linked: int = 0


@dataclass(frozen=True, slots=True)
class MainContent:
    """is_marked: whether the page marks the blocks as its content, and has others.

    share: of the page's text, without its surroundings and links.
    """

    blocks: Sequence[TextBlock]
    is_marked: bool
    share: float


def part_of(tag: str, attributes: Mapping[str, str]) -> Part | None:
    """The part that the element begins."""
    role = attributes.get("role", "").strip().lower()
    return _PARTS[role] if role in _ROLES else _PARTS.get(tag)


def main_content(blocks: Sequence[TextBlock]) -> MainContent:
    """All blocks in `main`, or else in `article`, if they hold at least as much as the others.

    Links and surroundings don't count among the others: of a short article they are most of its
    page. A part that holds less, such as a teaser, is not the content, and the whole page is.
    """
    for part in _CONTENT:
        inside = [block for block in blocks if part in block.parts]
        size = sum(block.size for block in inside)
        other = prose_size(block for block in blocks if part not in block.parts)
        if inside and size >= other:
            return MainContent(inside, True, size / (size + other))
    return MainContent(blocks, False, 1.0)


def prose_size(blocks: Iterable[TextBlock]) -> int:
    """Of what surrounds no content, and is no link."""
    return sum(block.size - block.linked for block in blocks if "surroundings" not in block.parts)
