"""What a text names in a spelling of its own, as a term that all spellings share."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Named:
    """What a text names once: a date, a number or a compound.

    terms:   2025-03-05, 25 or login; two days if day and month may be in either order.
    written: as in the text without accents; a date without its year, where that is a word.
    """

    terms: tuple[str, ...]
    written: str
