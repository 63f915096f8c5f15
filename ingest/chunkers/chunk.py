"""A chunk: the piece of a document's text that is indexed, or a summary of a part of it."""

from dataclasses import dataclass
from hashlib import blake2b

from index.model.chunk_kind import Kind


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document's text, document_text[start:end], or what is said of that.

    headings: those that it stands under, outermost first; one within the text is not repeated.
    digest: 16 bytes of kind, headings and text; chunks with equal digests are indexed alike.
    """

    start: int
    end: int
    text: str
    headings: tuple[str, ...]
    digest: bytes
    kind: Kind = "text"

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


def summary_of(start: int, end: int, text: str, headings: tuple[str, ...]) -> Chunk:
    """The chunk that sums up document_text[start:end]."""
    return Chunk(start, end, text, headings, _digest(headings, text, b"summary"), "summary")


def _digest(headings: tuple[str, ...], text: str, kind: bytes = b"") -> bytes:
    """Each part behind its length, so that no two ways to part a text are alike."""
    hashed = blake2b(digest_size=16, person=kind)
    for part in (*headings, text):
        encoded = part.encode()
        hashed.update(len(encoded).to_bytes(8) + encoded)
    return hashed.digest()
