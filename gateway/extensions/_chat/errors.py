"""The errors of a language model.

ChatUnavailable   no language model has returned a complete response
  ChatTooLate     the response did not arrive before the deadline
"""


class ChatUnavailable(Exception):
    """Continue without the model; the message gives the reason."""


class ChatTooLate(ChatUnavailable):
    """The deadline has passed."""
