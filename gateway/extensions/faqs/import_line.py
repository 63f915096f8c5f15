"""One FAQ of a file that is imported."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ImportLine:
    """number: of its first line in the file. body: JSON. warning: what the caller should check."""

    number: int
    body: bytes
    warning: str | None = None
