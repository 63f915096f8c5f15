"""The way of a region to the primary: a socket that leads there, wherever the primary runs."""

import signal
import subprocess
import sys
from pathlib import Path

from loadtests.servers.postgres import postgres_programs
from loadtests.servers.postgres.postgres_programs import SOCKET


class Link:
    """host: the folder of the socket, as PostgreSQL's clients name it."""

    def __init__(self, host: Path) -> None:
        self.host = host
        host.mkdir()
        self._target: Path | None = None
        self._one_way_ms = 0
        self._relay: subprocess.Popen[bytes] | None = None

    def lead(self, sockets: Path, one_way_ms: int) -> None:
        """Lead to the server with these sockets; connections to the one before are lost.

        one_way_ms: the delay of each byte. Without a delay there is no relay, which would take
        time of its own; such a link can't be cut.
        """
        self._target, self._one_way_ms = sockets / SOCKET, one_way_ms
        self.heal()

    def cut(self) -> None:
        """Lose all connections and let none begin."""
        if self._relay is not None:
            self._relay.kill()
            self._relay.wait()
            self._relay = None
        self._socket.unlink(missing_ok=True)

    def heal(self) -> None:
        """Let connections begin; those that were open are lost."""
        assert self._target is not None, "it leads somewhere"
        self.cut()
        if self._one_way_ms:
            command = [sys.executable, "-m", "loadtests.servers.socket_relay", str(self._socket)]
            self._relay = subprocess.Popen([*command, str(self._target), str(self._one_way_ms)])  # noqa: S603  ours
            postgres_programs.until(self._socket.exists)
            self._socket.chmod(0o777)  # for a standby, which runs as nobody
        else:
            self._socket.symlink_to(self._target)

    def silence(self) -> None:
        """Let nothing through: connections stay open, and new ones wait."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let through what has waited."""
        self._signal(signal.SIGCONT)

    @property
    def _socket(self) -> Path:
        return self.host / SOCKET

    def _signal(self, sent: signal.Signals) -> None:
        if self._relay is not None:
            self._relay.send_signal(sent)
