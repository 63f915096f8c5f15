"""Tells where the tasks of a test that hangs are waiting, before faulthandler ends its process.

faulthandler shows threads alone, and that of an event loop is always in the loop.
"""

import asyncio
import gc
import os
import threading
from collections.abc import Iterator

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key

from gateway.http.task_waits import waits_of

_HANGS_S = float(os.environ.get("NEARHIT_TEST_HANGS_S", "240"))  # before faulthandler_timeout


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    uncaptured = item.config.stash[fault_handler_stderr_fd_key]
    timer = threading.Timer(_HANGS_S, _tell, (item.nodeid, uncaptured))
    timer.daemon = True
    timer.start()
    try:
        return (yield)
    finally:
        timer.cancel()


def _tell(test: str, stderr: int) -> None:
    lines = [f"{test} hangs. Its tasks:"]
    loops = {each.get_loop() for each in gc.get_objects() if isinstance(each, asyncio.Task)}
    for task in [task for loop in loops for task in asyncio.all_tasks(loop)]:
        lines += [f"{task.get_name()}:", *waits_of(task)]
    os.write(stderr, "\n".join(["", *lines, ""]).encode())
