"""Threads for parts that share them."""

from common.shares.threads import FairThreads


def new_threads() -> FairThreads:
    return FairThreads(4, name="test", waiting_max=1_000, wait_s_max=60.0)
