"""Memory that a process has freed, and that its allocator keeps."""

import ctypes


def give_back() -> None:
    """Return freed memory to the operating system, where the C library can do that.

    glibc keeps what lies between pieces in use: after a shard was loaded, two or three times the
    shard's size. Other threads that allocate wait meanwhile, for some milliseconds.

    Source: malloc_trim(3).
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
