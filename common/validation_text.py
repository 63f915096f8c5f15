"""Pydantic's messages without the words that are about its parser."""

_PREFIX = "Value error, "  # before what a validator of our own says


def plain(message: str) -> str:
    """What is wrong with the value: "Input should be a valid integer", not how it was parsed."""
    if message.startswith(_PREFIX):
        return message.removeprefix(_PREFIX)
    return message.partition(", unable to ")[0]
