"""What goes wrong in this package.

ChatUnavailable     no language model has answered, or not in full
  ChatTooLate       in time
DocumentContended   others kept changing the document while we prepared its next version
DocumentTooLong     the document has more chunks than one may have
EventRefused        an event says nothing that can be done
JobRefused          a job will never do
NotImportable       a file is no archive of a tenant that can be read
NotReembedded       a tenant could not be moved to another embedder's space
"""


class ChatUnavailable(Exception):
    """Do without it; the message says what happened."""


class ChatTooLate(ChatUnavailable):
    """The deadline has passed first."""


class DocumentContended(Exception):
    """Try again: nothing was stored."""


class DocumentTooLong(Exception):
    """Nothing was stored; the message says how long is too long."""


class EventRefused(Exception):
    """Hearing it again is of no use. The message quotes no document."""


class NotImportable(Exception):
    """Nothing was stored; the message says why."""


class NotReembedded(Exception):
    """The tenant is as it was; the message says what to do."""


class JobRefused(Exception):
    """The job will never do: trying again is of no use. The message quotes no document."""
