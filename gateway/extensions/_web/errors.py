"""The error of this package."""


class Unfetchable(ValueError):
    """The page can't be read; the message says why, and names no address of a network."""
