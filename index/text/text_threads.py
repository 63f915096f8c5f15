"""Threads for what takes as long as a caller's texts are: analysing a query, finding highlights.

A text of 2,000 characters without spaces, or of as many numbers, takes tenths of a second.
"""

from common.shares.threads import FairThreads

# Starting values, not measured.
THREADS = 2  # Python runs one at a time; one tenant uses half
SHORT_CHARACTERS_MAX = 256  # most questions are shorter, and take less time than a thread does
_WAITING_MAX = 1_000
_WAIT_S_MAX = 5.0


def text_threads() -> FairThreads:
    return FairThreads(THREADS, name="texts", waiting_max=_WAITING_MAX, wait_s_max=_WAIT_S_MAX)
