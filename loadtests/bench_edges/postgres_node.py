"""One PostgreSQL of a primary and its standbys."""

import shutil
import signal
import subprocess
from pathlib import Path

from loadtests.servers.postgres import postgres_programs
from loadtests.servers.postgres.postgres_programs import PostgresPrograms


class PostgresNode:
    """name: by which a primary knows it as a standby. sockets: the folder of its socket.

    primary: the folder of the socket through which it reaches its primary, if it is a standby.
    """

    def __init__(
        self, programs: PostgresPrograms, name: str, data: Path, sockets: Path, primary: Path
    ) -> None:
        self.sockets = sockets
        self._programs = programs
        self._name = name
        self._data = data
        self._primary = primary
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return self._programs.url(self.sockets)

    @property
    def pid(self) -> int:
        assert self._process is not None, "it was started"
        return self._process.pid

    def start(self) -> None:
        self._process = self._programs.start(
            self._data,
            self.sockets,
            cluster_name=self._name,
            primary_conninfo=self._programs.conninfo(self._primary),
            wal_retrieve_retry_interval="500ms",  # so that it follows a new primary soon
        )

    def copy(self, data: Path) -> None:
        """Copy its data for a new standby."""
        folder = postgres_programs.new_folder(data)
        self._programs.backup(self.sockets, folder, "--write-recovery-conf")

    def stop(self) -> None:
        """Stop without a checkpoint; does nothing if it does not run."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait()
            self._process = None

    def kill(self) -> None:
        if self._process is not None:
            postgres_programs.kill(self._process)
            self._process = None

    def pause(self) -> None:
        assert self._process is not None, "it was started"
        postgres_programs.signal_all(self._process, signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None, "it was started"
        postgres_programs.signal_all(self._process, signal.SIGCONT)

    def wait_for(self, standby: "PostgresNode") -> None:
        """Wait until the standby has all that is committed until now."""
        self._programs.wait_until_replayed(standby.sockets, self.sockets)

    def require(self, standby: str) -> None:
        """From when this returns on, each commit waits for that standby."""
        self._programs.ask(
            self.sockets, f"ALTER SYSTEM SET synchronous_standby_names = '\"{standby}\"'"
        )
        self._programs.ask(self.sockets, "SELECT pg_reload_conf()")
        sync = f"SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync' AND application_name = '{standby}'"  # noqa: E501, S608
        postgres_programs.until(lambda: self._programs.ask(self.sockets, sync) == "1")

    def is_followed_by(self, standby: str) -> bool:
        """Whether the standby receives what is committed."""
        followers = f"SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND application_name = '{standby}'"  # noqa: E501, S608
        return self._programs.ask(self.sockets, followers) == "1"

    def promote(self) -> None:
        self._programs.promote(self._data)

    def discard(self) -> None:
        """Stop it and remove its data."""
        self.kill()
        shutil.rmtree(self._data)
