"""What the command line has to tell a person.

NotPossible   what was asked for can't be done; the message says why, and what to do
"""


class CommandError(Exception):
    """The message is for a person."""
