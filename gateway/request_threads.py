"""The threads in which requests compute, shared by tenants.

Writes, extracted files and models on this machine have threads of their own, so a tenant's requests
wait for none of these.
"""

from dataclasses import dataclass, field

from common.shares.threads import FairThreads

# One tenant uses half of the threads at most. Threads of Python code take turns, and each of them
# delays the event loop: a request of 0.2 ms took 0.2 ms beside two busy ones (16 ms at P99) and
# 3.9 ms beside four (43 ms). So texts are few at a time.
SEARCH_THREADS = 8  # most of their work is NumPy's, which lets other threads run
TEXT_THREADS = 2
WAITING_MAX = 1_000  # parts of searches of one tenant
TEXTS_WAITING_MAX = 32  # of one tenant
WAIT_S_MAX = 5.0  # starting values, not measured


def _searches() -> FairThreads:
    return FairThreads(
        SEARCH_THREADS, name="search", waiting_max=WAITING_MAX, wait_s_max=WAIT_S_MAX
    )


def _texts() -> FairThreads:
    return FairThreads(
        TEXT_THREADS, name="text", waiting_max=TEXTS_WAITING_MAX, wait_s_max=WAIT_S_MAX
    )


@dataclass(frozen=True, slots=True)
class RequestThreads:
    """searches: parts of a search, some milliseconds each.

    texts: conversations and imported files, up to a second each.
    """

    searches: FairThreads = field(default_factory=_searches)
    texts: FairThreads = field(default_factory=_texts)

    def close(self) -> None:
        self.searches.close()
        self.texts.close()
