"""A hit as the RAG tools use it: text and document, without scores."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from index.search.hits import Hit


@dataclass(frozen=True, slots=True)
class Passage:
    chunk_id: int
    document_id: str
    title: str
    text: str
    language: str

    @property
    def heading(self) -> str:
        """The title in one line, or the document's identifier if it has no title."""
        return " ".join(self.title.split()) or self.document_id

    def with_text(self, text: str | None) -> "Passage":
        """This passage with another text; None: unchanged."""
        return self if text is None else replace(self, text=text)


def passage_from_hit(hit: Hit) -> Passage:
    return Passage(hit.chunk_id, hit.document_id, hit.title, hit.text, hit.language)


def passage_from_answer(hit: Mapping[str, Any]) -> Passage:
    """hit: an element of `hits` in a search answer."""
    return Passage(**{name: hit[name] for name in Passage.__slots__})
