"""A module of this package that runs in a process within limits, and a connection to it."""

import os
import sys
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

from common.processes.bounded_process import BoundedProcess, ProcessLimits

_START_S_MAX = 60.0  # of the process, on a busy machine
_READY = b"ready"
_ROOT = Path(__file__).parents[__package__.count(".") + 1]
# Libraries start a thread for each processor, and each takes address space: here one is enough.
_ONE_THREAD = {
    "ARROW_IO_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}


class ModuleProcess(BoundedProcess):
    """A context manager that ends the process. Only `kill` may be called by another thread.

    module: its main part calls `connect`. folder: as of `BoundedProcess`.
    Raises `OSError` and `EOFError` if the process does not start.
    """

    def __init__(self, module: str, limits: ProcessLimits, *, folder: Path | None = None) -> None:
        self._connection, child_end = Pipe()
        try:
            super().__init__(
                [sys.executable, "-m", module, str(child_end.fileno())],
                limits,
                pass_fds=[child_end.fileno()],
                folder=folder,
                environment=os.environ | _ONE_THREAD | {"PYTHONPATH": _path()},
            )
        except BaseException:
            self._connection.close()
            raise
        finally:
            child_end.close()
        try:
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def send(self, message: bytes) -> None:
        """Raises `OSError` if the process has ended."""
        self._connection.send_bytes(message)

    def receive(self, bytes_max: int, seconds: float) -> bytes | None:
        """The next message; None if it does not come in time.

        Raises `EOFError` if the process has ended, and `OSError` if the message is too long.
        """
        return self._connection.recv_bytes(bytes_max) if self._connection.poll(seconds) else None

    def stop(self) -> int | None:
        status = super().stop()
        self._connection.close()
        return status

    def _wait_until_ready(self) -> None:
        if not self._connection.poll(_START_S_MAX):
            raise OSError("the process does not start")
        self._connection.recv_bytes(len(_READY))


def _path() -> str:
    """Where the process finds this package, and what this one finds by its own path."""
    return os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])


def connect() -> Connection:
    """In the process: the connection to the parent, which now knows that the process is ready."""
    connection = Connection(int(sys.argv[1]))
    os.set_inheritable(connection.fileno(), False)  # not for processes that this one starts
    connection.send_bytes(_READY)
    return connection
