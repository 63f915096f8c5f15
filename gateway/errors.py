"""Errors of commands.

CommandError   the command can't be done; the message says why and what to do
"""


class CommandError(Exception):
    """A command fails; the message is shown to the operator."""
