"""What should be imported can't be read, or not as asked."""

from gateway.extension import CommandError


class NotImportable(CommandError):
    """The message gives the reason, and what to do."""
