"""An event can't be applied, now or later."""

from index.errors import IndexStoreError


class EventRefused(Exception):
    """A retry is useless. The message quotes no document."""


class EventSuperseded(IndexStoreError):
    """Another event of the document was stored first; nothing was written."""

    def __init__(self, document_id: str) -> None:
        super().__init__(f"another event of {document_id} was stored first")
