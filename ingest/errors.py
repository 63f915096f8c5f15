"""The errors of this package.

DocumentContended   concurrent writes kept changing the document before the commit
DocumentTooLong     the document has more chunks or metadata than allowed
JobRefused          the job can never succeed
JobUnfinished       the job's turn is over
PublishingRefused   the document would be public, and the writer may not publish it
  PublishingOutdated  a later write has set a part of it
"""


class DocumentContended(Exception):
    """Nothing was stored; the caller may retry."""


class DocumentTooLong(Exception):
    """Nothing was stored; the message names the limit. field: of the document, which exceeds it."""

    def __init__(self, message: str, field: str = "text") -> None:
        super().__init__(message)
        self.field = field


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
