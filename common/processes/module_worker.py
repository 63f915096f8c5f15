"""A module's process that answers one request after the other, within limits.

The module's main part calls `answer_requests`. The process starts with the first request, and again
with the next one after a request that exceeded a limit. A process that somebody else has killed,
such as the kernel for want of memory, says nothing about its request, which is asked once more.
"""

import os
import signal
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection

from common.processes.bounded_process import ProcessLimits
from common.processes.module_process import ModuleProcess, connect

WALL_S_PER_CPU_S = 10.0  # a starting value: on a busy machine a request gets less of a processor
_FOREIGN_SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGXCPU)
_OUT_OF_TIME = 128 + signal.SIGPROF  # the status of a process whose timer ended it
# Of one that was stopped or used up the processor time of all its requests, of its supervisor that
# was killed, and of none that has started.
_KILLED = (*(128 + number for number in _FOREIGN_SIGNALS), -signal.SIGKILL, None)


class ProcessEnded(Exception):
    """The process exceeded its memory, or `kill` ended it."""


class ProcessKilled(ProcessEnded):
    """It does not start, somebody else has killed it twice, or `kill` did for good.

    This says nothing about the request.
    """


class ModuleWorker:
    """Only `kill` may be called by another thread.

    reply_bytes_max: of the longest answer.
    """

    def __init__(self, module: str, limits: ProcessLimits, reply_bytes_max: int) -> None:
        self._module, self._limits = module, limits
        self._reply_bytes_max = reply_bytes_max
        self._is_killed = self._is_killed_for_good = False
        self._process: ModuleProcess | None = None

    def ask(self, *parts: bytes, cpu_s: float) -> bytes:
        """The answer to a request, which has as many parts as the module expects.

        Raises `TimeoutError` if it takes more processor time, or `WALL_S_PER_CPU_S` times as long
        by the clock, `ProcessEnded`, and `ProcessKilled`.
        """
        try:
            try:
                return self._ask(parts, cpu_s)
            except ProcessKilled:
                return self._ask(parts, cpu_s)
        finally:
            self._is_killed = self._is_killed_for_good

    def kill(self, *, for_good: bool = False) -> None:
        """End the `ask` of another thread, which raises `ProcessEnded`.

        for_good: it and all later ones raise `ProcessKilled`.
        """
        self._is_killed_for_good |= for_good
        self._is_killed = True  # set first: the other thread may be about to start the process
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        self._end()

    def _ask(self, parts: Sequence[bytes], cpu_s: float) -> bytes:
        try:
            process = self._start()
            for part in (str(cpu_s).encode(), *parts):
                process.send(part)
            reply = process.receive(self._reply_bytes_max, cpu_s * WALL_S_PER_CPU_S)
        except (EOFError, OSError):
            status = self._end()
            if status == _OUT_OF_TIME:
                raise TimeoutError from None
            if status in _KILLED and (not self._is_killed or self._is_killed_for_good):
                raise ProcessKilled from None
            raise ProcessEnded from None
        if reply is None:
            self.close()
            raise TimeoutError
        return reply

    def _end(self) -> int | None:
        """The status of the process, which has ended; None if there was none."""
        process, self._process = self._process, None
        return None if process is None else process.stop()

    def _start(self) -> ModuleProcess:
        """The process, which is ready. Raises `OSError` and `EOFError`."""
        if self._process is None and not self._is_killed:
            self._process = ModuleProcess(self._module, self._limits)
        if self._process is None or self._is_killed:
            raise EOFError
        return self._process


def answer_requests(parts: int, answer: Callable[..., bytes]) -> None:
    """Runs in the child: answer the parent's requests until the parent ends.

    parts: the number of messages of a request, each an argument of `answer`.
    """
    try:
        _answer_requests(connect(), parts, answer)
    except BaseException:
        # At once: Python's own end closes the connection first, and the parent would kill the rest.
        os._exit(1)


def _answer_requests(connection: Connection, parts: int, answer: Callable[..., bytes]) -> None:
    while True:
        try:
            cpu_s = float(connection.recv_bytes())
            request = [connection.recv_bytes() for _ in range(parts)]
        except EOFError:
            return
        signal.setitimer(signal.ITIMER_PROF, cpu_s)  # its signal ends the process
        reply = answer(*request)
        signal.setitimer(signal.ITIMER_PROF, 0)
        connection.send_bytes(reply)
