"""The errors of this package.

DocumentContended   concurrent writes kept changing the document before the commit
DocumentOfOtherOrigin  the document was read from another folder of the same source
DocumentTooLong     the document has more chunks or metadata than allowed
JobRefused          the job can never succeed
JobUnfinished       the job's turn is over
NotImportable       what should be imported can't be read, or not as asked
NotReembedded       the tenant could not be moved to another embedder's space
PublishingRefused   the document would be public, and the writer may not publish it
  PublishingOutdated  a later write has set a part of it
"""


class DocumentContended(Exception):
    """Nothing was stored; the caller may retry."""


class DocumentOfOtherOrigin(Exception):
    """Nothing was stored; the document of the other origin stays."""

    def __init__(self, document_id: str) -> None:
        super().__init__(
            f"another origin of this source, or a caller, has written {document_id}; it stays"
        )


class DocumentTooLong(Exception):
    """Nothing was stored; the message names the limit. field: of the document, which exceeds it."""

    def __init__(self, message: str, field: str = "text") -> None:
        super().__init__(message)
        self.field = field


class NotImportable(Exception):
    """The message gives the reason, and what to do."""


class NotReembedded(Exception):
    """The tenant is unchanged; the message says what to do."""


class JobRefused(Exception):
    """The job can never succeed, so a retry is useless. The message quotes no document."""


class JobUnfinished(Exception):
    """The job goes on where it stopped when those of others have had their turn."""


class PublishingRefused(Exception):
    """Nothing was stored: the document would be public, and the writer has no right to publish."""

    def __init__(
        self,
        detail: str = "The reader public lets other tenants read the document: it needs a key with "
        "the role publisher and the scope public.",
    ) -> None:
        super().__init__(detail)


class PublishingOutdated(PublishingRefused):
    """Nothing was stored: nobody has asked for what the two writes together would publish."""

    def __init__(self) -> None:
        super().__init__(
            "A later write has set a part of the document since this one was requested. Together "
            "they would make it public, as neither has asked. Send the write again."
        )
