"""The kinds of chunks: pieces of a document's text, and summaries of the whole or of a section."""

from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["text", "summary"]


def kind_of(chunk_id: int) -> Kind:
    """Summaries have negative ids, because a scan reads the id of a row first."""
    return "summary" if chunk_id < 0 else "text"
