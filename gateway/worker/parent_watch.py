"""Several workers and the process that started them: they must not outlive it."""

import os
import signal
import threading
import time

_VARIABLE = "NEARHIT_SUPERVISOR_PID"
_WATCH_S = 1.0


def watch_children() -> None:
    """In the process that starts the workers."""
    os.environ[_VARIABLE] = str(os.getpid())


def stop_with_parent() -> None:
    """In a worker: stop when the process that started it is gone, however it went."""
    supervisor = os.environ.get(_VARIABLE)
    if supervisor is not None:
        threading.Thread(target=_follow, args=(int(supervisor),), daemon=True).start()


def _follow(supervisor: int) -> None:
    while os.getppid() == supervisor:
        time.sleep(_WATCH_S)
    os.kill(os.getpid(), signal.SIGTERM)
