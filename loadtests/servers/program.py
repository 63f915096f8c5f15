"""A program that runs as a process, and can be stopped, paused, killed and started again."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

_STOP_S_MAX = 60.0  # longer than a gateway waits for its requests


@dataclass(slots=True)
class Program:
    """environment: variables beside those of this process. log: what it prints; None: nowhere.

    All but `start` and `pid` do nothing if it does not run.
    """

    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    log: Path | None = None
    _process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        """Returns at once."""
        with (self.log or Path(os.devnull)).open("ab") as output:
            self._process = subprocess.Popen(  # noqa: S603  ours
                [*self.command], env=os.environ | self.environment, stdout=output
            )

    @property
    def pid(self) -> int:
        assert self._process is not None, "it was started"
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def stop(self) -> None:
        """Ask it to end, and wait until it has; kill it after a minute."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(_STOP_S_MAX)
            except subprocess.TimeoutExpired:
                print(f"{self.command[:4]} did not end, and is killed", flush=True)
            self.kill()

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def pause(self) -> None:
        """Its connections stay open and get no response."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, sent: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(sent)


@contextmanager
def running(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    log: Path | None = None,
) -> Iterator[Program]:
    program = Program(command, environment or {}, log)
    program.start()
    try:
        yield program
    finally:
        program.stop()
