"""Gateways and workers that can be stopped, killed and started again, on the same port."""

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from loadtests.servers import service
from loadtests.servers.ports import free_port
from loadtests.servers.program import Program
from loadtests.servers.service import UNLIMITED, Service

_SWEEP_S = "5"


@dataclass
class GatewayProcess:
    """launcher: the module that runs the command, if not `gateway` itself."""

    shared: Service
    settings: Mapping[str, str]
    launcher: tuple[str, ...] = ("gateway",)
    port: int = field(default_factory=free_port)
    _running: ExitStack = field(default_factory=ExitStack)
    _service: Service | None = None

    def start(self) -> None:
        beside = service.beside(self.shared, self.settings, port=self.port, launcher=self.launcher)
        self._service = self._running.enter_context(beside)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        self._running.close()

    def pause(self) -> None:
        """Stop the process: connections stay open and get no response."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def stop(self) -> None:
        """Returns when the gateway has finished its requests."""
        self._running.close()

    @property
    def service(self) -> Service:
        assert self._service is not None, "it was started"
        return self._service

    @property
    def pid(self) -> int:
        return self.service.pid

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def start_all(
    stack: ExitStack, gateways: Sequence[GatewayProcess], at_once: int | None = None
) -> None:
    """Start them side by side, since each takes a while; the end of the stack stops them."""
    for gateway in gateways:
        stack.callback(gateway.stop)
    with ThreadPoolExecutor(at_once) as starters:
        list(starters.map(GatewayProcess.start, gateways))


def worker(
    shared: Service,
    settings: Mapping[str, str],
    log: Path,
    launcher: tuple[str, ...] = ("gateway",),
) -> Program:
    """A worker, not yet started; queued jobs wait until it is up."""
    command = [sys.executable, "-m", *launcher, "worker", "--interval-s", _SWEEP_S]
    return Program(command, UNLIMITED | shared.server_settings | dict(settings), log)
