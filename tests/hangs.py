"""Tells where the tasks of a test that hangs are waiting, before faulthandler ends its process.

faulthandler shows threads alone, and that of an event loop is always in the loop. One thread
watches all tests of a process: to start one for each takes longer than many of them.
"""

import asyncio
import gc
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key

from gateway.http.task_waits import waits_of

_HANGS_S = float(os.environ.get("NEARHIT_TEST_HANGS_S", "240"))  # before faulthandler_timeout
_LOOK_S = _HANGS_S / 24


@dataclass(slots=True)
class _Watched:
    """test: that runs now; None between tests, and once its hang is reported.

    hangs_at_s: when it counts as hanging, by the monotonic clock.
    """

    test: str | None = None
    hangs_at_s: float = 0.0


_WATCHED = pytest.StashKey[_Watched]()


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Iterator[None]:
    watched = session.config.stash[_WATCHED] = _Watched()
    stderr = session.config.stash[fault_handler_stderr_fd_key]
    ended = threading.Event()
    threading.Thread(target=_watch, args=(watched, ended, stderr), daemon=True).start()
    try:
        return (yield)
    finally:
        ended.set()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    watched = item.config.stash[_WATCHED]
    watched.hangs_at_s = time.monotonic() + _HANGS_S
    watched.test = item.nodeid
    try:
        return (yield)
    finally:
        watched.test = None


def _watch(watched: _Watched, ended: threading.Event, stderr: int) -> None:
    while not ended.wait(_LOOK_S):
        test = watched.test
        if test is not None and time.monotonic() > watched.hangs_at_s:
            watched.test = None
            _tell(test, stderr)


def _tell(test: str, stderr: int) -> None:
    lines = [f"{test} hangs. Its tasks:"]
    loops = {each.get_loop() for each in gc.get_objects() if isinstance(each, asyncio.Task)}
    for task in [task for loop in loops for task in asyncio.all_tasks(loop)]:
        lines += [f"{task.get_name()}:", *waits_of(task)]
    os.write(stderr, "\n".join(["", *lines, ""]).encode())
