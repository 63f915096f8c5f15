"""Waiting for the state of a server that tells nobody of it."""

import time
from collections.abc import Callable

_POLL_S = 0.02


def until(is_so: Callable[[], bool], otherwise: str, seconds_max: float = 60.0) -> None:
    """Raises `TimeoutError` that says `otherwise`."""
    deadline_s = time.monotonic() + seconds_max
    while not is_so():
        if time.monotonic() > deadline_s:
            raise TimeoutError(otherwise)
        time.sleep(_POLL_S)
