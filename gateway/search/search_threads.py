"""The threads in which searches compute, shared by tenants: one tenant uses half of them at most.

What postprocesses hits is Python, of which one thread runs at a time: more threads would only take
more of the interpreter from the event loop.

Writes, extracted files, conversations and models on this machine have threads or processes of their
own, so a search waits for none of these.
"""

from common.shares.threads import FairThreads

THREADS = 8  # most of their work is NumPy's, which lets other threads run
POSTPROCESSING_THREADS = 2
WAITING_MAX = 1_000  # parts of searches of one tenant
WAIT_S_MAX = 5.0  # starting values, not measured


def search_threads() -> FairThreads:
    return FairThreads(THREADS, name="search", waiting_max=WAITING_MAX, wait_s_max=WAIT_S_MAX)


def postprocessing_threads() -> FairThreads:
    return FairThreads(
        POSTPROCESSING_THREADS,
        name="postprocess",
        waiting_max=WAITING_MAX,
        wait_s_max=WAIT_S_MAX,
    )
