"""A worker that can be killed, paused and started again."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from loadtests.servers.service import UNLIMITED, Service

_SWEEP_S = "5"


class WorkerProcess:
    """launcher: the module that runs the command, if not `gateway` itself."""

    def __init__(
        self,
        shared: Service,
        settings: Mapping[str, str],
        log: Path,
        launcher: tuple[str, ...] = ("gateway",),
    ) -> None:
        self._environment = os.environ | UNLIMITED | shared.server_settings | dict(settings)
        self._command = [sys.executable, "-m", *launcher, "worker", "--interval-s", _SWEEP_S]
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns at once; queued jobs wait until the worker is up."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603  ours
                self._command, env=self._environment, stdout=log, stderr=log
            )

    def kill(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._process.kill()
            self._process.wait()
            self._process = None

    def pause(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
