"""A chunk: the piece of a document's text that is indexed, whichever cut has made it."""

from dataclasses import dataclass
from hashlib import blake2b


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document's text: document_text[start:end].

    headings: those that it stands under, outermost first; one within the text is not repeated.
    digest: 16 bytes of headings and text; chunks with equal digests are indexed alike.
    """

    start: int
    end: int
    text: str
    headings: tuple[str, ...]
    digest: bytes

    @property
    def embedded_text(self) -> str:
        """What is embedded and analysed: the headings, then the text."""
        return "\n".join((*self.headings, self.text))


def chunk_of(text: str, start: int, end: int, headings: tuple[str, ...] = ()) -> Chunk | None:
    """What text[start:end] holds between the whitespace around it; None if that is all."""
    body = text[start:end].lstrip()
    start = end - len(body)
    body = body.rstrip()
    if not body:
        return None
    return Chunk(start, start + len(body), body, headings, _digest(headings, body))


def _digest(headings: tuple[str, ...], text: str) -> bytes:
    """Each part behind its length, so that no two ways to part a text are alike."""
    hashed = blake2b(digest_size=16)
    for part in (*headings, text):
        encoded = part.encode()
        hashed.update(len(encoded).to_bytes(8) + encoded)
    return hashed.digest()
