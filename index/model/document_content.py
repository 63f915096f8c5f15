"""What two documents have in common if one of them is the other under a new name."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DocumentContent:
    """digest: SHA-256 of the text. A document for others is another one, whatever its text."""

    digest: bytes
    owner: str | None
    readers: frozenset[str]
