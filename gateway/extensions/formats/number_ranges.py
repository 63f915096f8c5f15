"""Numbers of pages and slides, as a person writes them."""

from collections.abc import Sequence
from itertools import groupby


def ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers as in `2-4, 7`."""
    found = []
    for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        first, *others = [number for _, number in run]
        found.append(f"{first}-{others[-1]}" if others else str(first))
    return ", ".join(found)
