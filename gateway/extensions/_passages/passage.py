"""A hit as the RAG tools use it: text and document, without scores."""

from dataclasses import dataclass, replace
from typing import Any

from index.search.hits import Hit


@dataclass(frozen=True, slots=True)
class Passage:
    """tenant: another tenant, whose public document it is; None for the caller's own.

    trust: as of the hit: `claim` or `web` if nobody stands behind its document.
    """

    chunk_id: int
    document_id: str
    title: str
    text: str
    language: str
    tenant: str | None = None
    trust: str | None = None

    @property
    def cited_fields(self) -> dict[str, Any]:
        """The fields of a citation that name the passage."""
        fields: dict[str, Any] = {"chunk_id": self.chunk_id, "document_id": self.document_id}
        seldom = {"tenant": self.tenant, "trust": self.trust}
        return fields | {name: value for name, value in seldom.items() if value is not None}

    @property
    def heading(self) -> str:
        return heading(self.title, self.document_id)

    def with_text(self, text: str | None) -> "Passage":
        """This passage with another text; None: unchanged."""
        return self if text is None else replace(self, text=text)


def heading(title: str, document_id: str) -> str:
    """The title in one line, or the document's identifier if it has no title."""
    return " ".join(title.split()) or document_id


def passage_from_hit(hit: Hit, own_tenant: str) -> Passage:
    return Passage(
        hit.chunk_id,
        hit.document_id,
        hit.title,
        hit.text,
        hit.language,
        None if hit.tenant == own_tenant else hit.tenant,
        hit.warning,
    )
