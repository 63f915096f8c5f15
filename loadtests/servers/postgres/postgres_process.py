"""A PostgreSQL with pgvector that can be killed, copied, restored and failed over.

It uses the programs and the cluster of Nearhit's embedded servers.
"""

import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Literal, TypeAlias

from loadtests.servers.postgres import postgres_programs
from loadtests.servers.postgres.postgres_programs import PostgresPrograms

Stop: TypeAlias = Literal["smart", "fast", "immediate"]

_SIGNALS: dict[Stop, signal.Signals] = {
    "smart": signal.SIGTERM,
    "fast": signal.SIGINT,
    "immediate": signal.SIGQUIT,
}


class PostgresProcess:
    """Always on the same socket, whichever data folder it runs on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._programs, self._data = PostgresPrograms.create(folder)
        self._sockets = self._made("sockets")
        self._copies = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return self._programs.url(self._sockets)

    def start(self) -> None:
        """Returns when PostgreSQL accepts connections."""
        self._process = self._programs.start(self._data, self._sockets)

    def stop(self, how: Stop = "fast") -> None:
        if self._process is not None:
            self._process.send_signal(_SIGNALS[how])
            self._process.wait()
            self._process = None

    def kill(self) -> None:
        """Kill all processes, as a power cut does."""
        assert self._process is not None, "it was started"
        postgres_programs.kill(self._process)
        self._process = None

    def crash(self) -> None:
        """Kill one process: PostgreSQL closes all connections and recovers by itself."""
        assert self._process is not None, "it was started"
        os.kill(next(postgres_programs.children(self._process)), signal.SIGKILL)
        self._programs.wait_for(self._sockets)

    def copy(self) -> Path:
        """A base backup of the current data."""
        return self._backup()

    def restore(self, copy: Path) -> None:
        """Start on the copy; PostgreSQL must be stopped."""
        self._replace(copy)
        self.start()

    def standby(self) -> Path:
        """The data of an asynchronous standby that has everything committed until now.

        The standby is stopped, as if the network separated it from its primary.
        """
        data = self._backup("--write-recovery-conf")
        sockets = self._made(f"{data.name}-sockets")
        process = self._programs.start(data, sockets)
        self._programs.wait_until_replayed(sockets, self._sockets)
        process.send_signal(_SIGNALS["fast"])
        process.wait()
        return data

    def fail_over(self, standby: Path) -> None:
        """Start the standby in the place of its lost primary and promote it."""
        self._replace(standby)
        self.start()
        self._programs.promote(self._data)

    def _replace(self, data: Path) -> None:
        assert self._process is None, "it was stopped"
        shutil.rmtree(self._data)
        data.rename(self._data)

    def _backup(self, *options: str) -> Path:
        self._copies += 1
        data = self._made(f"copy{self._copies}")
        self._programs.backup(self._sockets, data, *options)
        return data

    def _made(self, name: str) -> Path:
        return postgres_programs.new_folder(self._folder / name)
