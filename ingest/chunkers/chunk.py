"""A chunk: an indexed piece of a document's text, or a summary of a part of it."""

from dataclasses import dataclass
from hashlib import blake2b

from index.model.chunk_kind import Kind


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document's text, document_text[start:end], or a summary of that piece.

    text: the piece, after the lines that it repeats of the table, list or code that it is part of.
    headings: those above the chunk, outermost first; without those inside its text.
    digest: 16 bytes, of kind, headings and text; chunks with equal digests share an embedding.
    """

    start: int
    end: int
    text: str
    headings: tuple[str, ...]
    digest: bytes
    kind: Kind = "text"

    @property
    def embedded_text(self) -> str:
        """The text that is embedded and analysed: the headings, then the text."""
        return "\n".join((*self.headings, self.text))


def chunk_of(
    text: str, start: int, end: int, headings: tuple[str, ...] = (), repeated: str = ""
) -> Chunk | None:
    """The chunk of text[start:end] without surrounding whitespace; None if it is empty.

    repeated: precedes it in the chunk's text.
    """
    body = text[start:end].lstrip()
    start = end - len(body)
    body = body.rstrip()
    if not body:
        return None
    end = start + len(body)
    return Chunk(start, end, repeated + body, headings, _digest(headings, repeated + body))


def summary_of(start: int, end: int, text: str, headings: tuple[str, ...]) -> Chunk:
    """The chunk with a summary of document_text[start:end]."""
    return Chunk(start, end, text, headings, _digest(headings, text, b"summary"), "summary")


def _digest(headings: tuple[str, ...], text: str, kind: bytes = b"") -> bytes:
    """The hash of the parts, each preceded by its length: no two lists of parts are alike."""
    hashed = blake2b(digest_size=16, person=kind)
    for part in (*headings, text):
        encoded = part.encode()
        hashed.update(len(encoded).to_bytes(8) + encoded)
    return hashed.digest()
