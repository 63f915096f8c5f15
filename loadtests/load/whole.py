"""Requests that are whole already, each with a path and a key of its own."""

from loadtests.load.closed_loop import Target


class Whole(Target):
    """Where they go. Bodies are requests, heads and all."""

    __slots__ = ()

    def encoded(self, body: bytes) -> bytes:
        return body


def to(url: str) -> Whole:
    return Whole(url, "")
