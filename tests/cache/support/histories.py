"""Revisions in the one history that tests know, unless they name another."""

from cache.protocol import Revisions

HISTORY = "a1"


def at(**numbers: int) -> Revisions:
    return Revisions(HISTORY, numbers)
