"""A hit as the assists take it: what it says, where it is from, and nothing of how it was found."""

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
        """In one line; a document without a title goes by its identifier."""
        return " ".join(self.title.split()) or self.document_id

    def with_text(self, text: str | None) -> "Passage":
        """None leaves it as it is."""
        return self if text is None else replace(self, text=text)


def passage_of_hit(hit: Hit) -> Passage:
    return Passage(hit.chunk_id, hit.document_id, hit.title, hit.text, hit.language)


def passages_of_answer(hit: Mapping[str, Any]) -> Passage:
    """Of a hit as it stands in an answer."""
    return Passage(**{name: hit[name] for name in Passage.__slots__})
