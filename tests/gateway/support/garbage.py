"""What reference counts do not free."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def only_collected() -> Iterator[list[object]]:
    """Yields a list that holds, once the block has ended, what in it became garbage in cycles."""
    found: list[object] = []
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield found
        gc.collect()
        found += gc.garbage
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
