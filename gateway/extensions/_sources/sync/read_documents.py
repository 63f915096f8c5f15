"""What a reading has found so far, to tell which stored documents have only another name now."""

from collections.abc import Iterator
from hashlib import sha256

from gateway.extensions._sources.source import BlankItem, Item, UnchangedItem
from index.model.document import Document, DocumentContent


class ReadDocuments:
    """source: its name. document_ids: of all documents of the reading.

    blank_ids: of files without text, which are no documents.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.document_ids: set[str] = set()
        self.blank_ids: set[str] = set()
        self._names: dict[DocumentContent, str] = {}

    def note(self, items: Iterator[Item]) -> Iterator[Item]:
        for item in items:
            if isinstance(item, Document | UnchangedItem):
                self.document_ids.add(item.document_id)
            elif isinstance(item, BlankItem):
                self.blank_ids.add(item.document_id)
            if isinstance(item, Document):
                self._names[_content(item)] = item.document_id
            yield item

    def name_of(self, content: DocumentContent) -> str | None:
        """The last document of the reading that has this content."""
        return self._names.get(content)


def _content(document: Document) -> DocumentContent:
    digest = sha256(document.text.encode()).digest()
    return DocumentContent(digest, document.owner, frozenset(document.readers))
