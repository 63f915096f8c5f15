"""A command that runs within limits of memory and time, and ends with this process.

The limits are those of the operating system, set in the child by `supervisor`, which also kills the
command's whole process group and removes its folder. `preexec_fn` is not safe beside threads.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_STOP_S_MAX = 30.0  # for killed processes to end and the folder to be removed


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """memory_bytes: of the address space of each process. cpu_s: processor time of each process.

    file_bytes: of each file that is written. seconds: until all is killed; None: not by the clock.
    """

    memory_bytes: int
    cpu_s: int
    file_bytes: int = 0
    seconds: float | None = None


class BoundedProcess:
    """A context manager that ends the command, and all that it has started.

    folder: removed at the end, even if this process is killed.
    pass_fds: descriptors that the command inherits.
    """

    def __init__(
        self,
        command: Sequence[str],
        limits: ProcessLimits,
        *,
        pass_fds: Sequence[int] = (),
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        ended, self._lifeline = os.pipe()
        self._lock = threading.Lock()
        self._is_alive = True
        arguments = (
            *(ended, limits.memory_bytes, limits.cpu_s, limits.file_bytes, limits.seconds or 0),
            *(folder or "", ",".join(map(str, pass_fds))),
        )
        try:
            self._supervisor = subprocess.Popen(  # noqa: S603  no argument comes from a caller
                [sys.executable, "-I", "-S", str(_SUPERVISOR), *map(str, arguments), *command],
                pass_fds=[ended, *pass_fds],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                process_group=0,  # a Ctrl-C of the terminal is for the parent
            )
        except BaseException:
            os.close(self._lifeline)
            raise
        finally:
            os.close(ended)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """Of the supervisor."""
        return self._supervisor.pid

    def wait(self) -> int:
        """The status of the command when it has ended: `supervisor.TOO_LATE` if it was killed for
        its time, 128 more than the number of another signal.
        """
        return self._supervisor.wait()

    def kill(self) -> None:
        """End the command soon; another thread may call it."""
        with self._lock:
            if self._is_alive:
                self._is_alive = False
                os.close(self._lifeline)

    def stop(self) -> int | None:
        """End the command, and return when its processes and its folder are gone.

        The status is as of `wait`; None if the supervisor does not end.
        """
        self.kill()
        try:
            self._supervisor.wait(_STOP_S_MAX)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
            with suppress(subprocess.TimeoutExpired):
                self._supervisor.wait(_STOP_S_MAX)
        return self._supervisor.returncode
