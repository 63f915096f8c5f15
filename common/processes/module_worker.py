"""A module's process that answers one request after the other, within limits.

The module's main part calls `answer_requests`. The process starts with the first request, and again
with the next one after a request that exceeded a limit.
"""

from collections.abc import Callable
from multiprocessing.connection import Connection

from common.processes.bounded_process import ProcessLimits
from common.processes.module_process import ModuleProcess, connect


class ProcessEnded(Exception):
    """The process exceeded its memory or processor time, or was killed."""


class ModuleWorker:
    """Only `kill` may be called by another thread.

    reply_bytes_max: of the longest answer.
    """

    def __init__(self, module: str, limits: ProcessLimits, reply_bytes_max: int) -> None:
        self._module, self._limits = module, limits
        self._reply_bytes_max = reply_bytes_max
        self._is_killed = False
        self._process: ModuleProcess | None = None

    def ask(self, *parts: bytes, seconds: float) -> bytes:
        """The answer to a request, which has as many parts as the module expects.

        Raises `TimeoutError` if it takes longer, and `ProcessEnded`.
        """
        try:
            process = self._start()
            for part in parts:
                process.send(part)
            reply = process.receive(self._reply_bytes_max, seconds)
        except (EOFError, OSError):
            self.close()
            raise ProcessEnded from None
        finally:
            self._is_killed = False
        if reply is None:
            self.close()
            raise TimeoutError
        return reply

    def kill(self) -> None:
        """End the `ask` of another thread, which raises `ProcessEnded`."""
        self._is_killed = True  # set first: the other thread may be about to start the process
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.stop()

    def _start(self) -> ModuleProcess:
        """The process, which is ready. Raises `OSError` and `EOFError`."""
        if self._process is None:
            self._process = ModuleProcess(self._module, self._limits)
        if self._is_killed:
            raise EOFError
        return self._process


def answer_requests(parts: int, answer: Callable[..., bytes]) -> None:
    """Runs in the child: answer the parent's requests until the parent ends.

    parts: the number of messages of a request, each an argument of `answer`.
    """
    connection: Connection = connect()
    while True:
        try:
            request = [connection.recv_bytes() for _ in range(parts)]
        except EOFError:
            return
        connection.send_bytes(answer(*request))
