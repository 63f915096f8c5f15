"""Stops worker processes when the process that started them has ended."""

import os
import signal
import threading
import time

_VARIABLE = "NEARHIT_SUPERVISOR_PID"
_WATCH_S = 1.0


def watch_children() -> None:
    """Call in the parent, before it starts the workers."""
    os.environ[_VARIABLE] = str(os.getpid())


def stop_with_parent() -> None:
    """Call in a worker: stop it when its parent has ended for any reason."""
    supervisor = os.environ.get(_VARIABLE)
    if supervisor is not None:
        threading.Thread(target=_follow, args=(int(supervisor),), daemon=True).start()


def _follow(supervisor: int) -> None:
    while os.getppid() == supervisor:
        time.sleep(_WATCH_S)
    os.kill(os.getpid(), signal.SIGTERM)
