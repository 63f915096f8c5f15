"""The tenant could not be moved to another embedder's space."""

from gateway.extension import CommandError


class NotReembedded(CommandError):
    """The tenant is unchanged; the message says what to do."""
