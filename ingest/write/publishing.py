"""The right to publish, judged on the document as it is about to be stored; does no I/O."""

from index.model.document import Document
from index.model.scope import PUBLIC
from ingest.errors import PublishingOutdated, PublishingRefused


def require_publishable(
    stored: Document | None, document: Document, *, may_publish: bool, is_overtaken: bool = False
) -> None:
    """Raises `PublishingRefused` if the write may not leave the document with its readers.

    stored: the version that it replaces. document: with the parts that the write does not set.
    may_publish: the right of the writer. is_overtaken: whether a later write has set a part.
    """
    if PUBLIC not in document.readers:
        return
    is_withdrawn = not document.is_active and stored is not None and PUBLIC in stored.readers
    if not may_publish and not is_withdrawn:
        raise PublishingRefused
    # The later writer was judged by a document that was not public, and need not be a publisher.
    if is_overtaken and is_published(document) and not is_published(stored):
        raise PublishingOutdated


def is_published(document: Document | None) -> bool:
    """Whether callers of other tenants may find the document."""
    return document is not None and bool(document.is_active) and PUBLIC in document.readers
