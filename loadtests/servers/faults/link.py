"""A way to a server: a Unix socket that leads to another one, and can be cut and silenced."""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from loadtests.servers.program import Program
from loadtests.servers.waiting import until


class Link:
    """socket: the one that clients connect to."""

    def __init__(self, socket: Path) -> None:
        self.socket = socket
        socket.parent.mkdir(exist_ok=True)
        self._target: Path | str | None = None
        self._one_way_ms: int | None = None
        self._relay: Program | None = None

    @property
    def host(self) -> Path:
        """The folder of the socket, as PostgreSQL's clients name it."""
        return self.socket.parent

    def lead(self, target: Path | str, one_way_ms: int | None) -> None:
        """Lead to the server with this socket or address; connections to the one before are lost.

        one_way_ms: the delay of each byte. None: there is no relay, which would take time of its
        own; such a link can't be cut.
        """
        self._target, self._one_way_ms = target, one_way_ms
        self.heal()

    def cut(self) -> None:
        """Lose all connections and let none begin."""
        if self._relay is not None:
            self._relay.kill()
            self._relay = None
        self.socket.unlink(missing_ok=True)

    def heal(self) -> None:
        """Let connections begin; those that were open are lost."""
        assert self._target is not None, "it leads somewhere"
        self.cut()
        if self._one_way_ms is None:
            self.socket.symlink_to(self._target)
            return
        relay = ("-m", "loadtests.servers.faults.socket_relay", str(self.socket))
        self._relay = Program([sys.executable, *relay, str(self._target), str(self._one_way_ms)])
        self._relay.start()
        until(self.socket.exists, "the relay did not start")
        self.socket.chmod(0o777)  # for a standby, which runs as nobody

    def silence(self) -> None:
        """Let nothing through: connections stay open, and new ones wait."""
        if self._relay is not None:
            self._relay.pause()

    def resume(self) -> None:
        """Let through what has waited."""
        if self._relay is not None:
            self._relay.resume()


_DISK_MB = 16


class SmallDisk:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self._ballast = folder / "ballast"
        mount = ["mount", "-t", "tmpfs", "-o", f"size={_DISK_MB}m,mode=755", "nearhit", str(folder)]
        self.is_there = subprocess.run(mount, capture_output=True, check=False).returncode == 0  # noqa: S603

    def fill(self) -> None:
        with suppress(OSError), self._ballast.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))

    def clear(self) -> None:
        self._ballast.unlink()

    def remove(self) -> None:
        if self.is_there:
            subprocess.run(["umount", str(self.folder)], check=True)  # noqa: S603, S607
