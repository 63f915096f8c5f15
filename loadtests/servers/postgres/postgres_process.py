"""A PostgreSQL with pgvector that can be killed, copied, restored and failed over."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Literal, Self, TypeAlias

from loadtests.servers.postgres import postgres_programs
from loadtests.servers.postgres.postgres_programs import PORT, PostgresPrograms
from loadtests.servers.waiting import until

Stop: TypeAlias = Literal["fast", "immediate"]

_SIGNALS: dict[Stop, signal.Signals] = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT}
_SETTINGS = {
    "listen_addresses": "",
    "shared_buffers": "128MB",
    "max_connections": "200",
    "jit": "off",
    "wal_keep_size": "256MB",  # for a standby that was stopped
    "hot_standby_feedback": "on",
}


class PostgresProcess:
    """data, sockets: the folders of its data and its socket. name: as a primary knows a standby.

    primary: the folder of the socket through which it reaches its primary, if it is a standby.
    settings: more of PostgreSQL's own.
    """

    def __init__(
        self,
        programs: PostgresPrograms,
        data: Path,
        sockets: Path,
        *,
        name: str = "primary",
        primary: Path | None = None,
        settings: Mapping[str, str] = {},
    ) -> None:
        self.sockets = sockets
        self.data = data
        self._programs = programs
        self._address = ("-h", str(sockets), "-p", PORT, "-U", "nearhit")
        self._settings = {**_SETTINGS, "cluster_name": name, **settings}
        if primary is not None:
            login = f"user=nearhit password={programs.password}"
            self._settings["primary_conninfo"] = f"host={primary} port={PORT} {login}"
            # So that it follows a new primary soon.
            self._settings["wal_retrieve_retry_interval"] = "500ms"
        self._copies = 0
        self._process: subprocess.Popen[bytes] | None = None

    @classmethod
    def create(cls, folder: Path, settings: Mapping[str, str] = {}) -> Self:
        """A new cluster in the folder."""
        programs, data = PostgresPrograms.create(folder)
        sockets = postgres_programs.new_folder(folder / "sockets")
        return cls(programs, data, sockets, settings=settings)

    @property
    def url(self) -> str:
        return self._programs.url(self.sockets)

    @property
    def pid(self) -> int:
        return self._running.pid

    @property
    def _running(self) -> "subprocess.Popen[bytes]":
        assert self._process is not None, "it was started"
        return self._process

    def start(self) -> None:
        """Returns when PostgreSQL accepts connections."""
        (self.data / "postmaster.pid").unlink(missing_ok=True)  # left by a killed server
        options = [f"--{name}={value}" for name, value in self._settings.items()]
        self._process = self._programs.start(
            "-D", str(self.data), "-k", str(self.sockets), *options
        )
        self.wait()

    def wait(self) -> None:
        """Returns when it accepts connections."""
        asked = partial(self._programs.run, "pg_isready", "-q", *self._address, check=False)
        until(lambda: asked() is not None, "PostgreSQL does not answer")

    def stop(self, how: Stop = "fast") -> None:
        """Does nothing if it does not run."""
        if self._process is not None:
            self._process.send_signal(_SIGNALS[how])
            self._process.wait()
            self._process = None

    def kill(self) -> None:
        """Kill all processes, as a power cut does; does nothing if it does not run."""
        if self._process is not None:
            postgres_programs.signal_all(self._process, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def crash(self) -> None:
        """Kill one process: PostgreSQL closes all connections and recovers by itself."""
        os.kill(next(postgres_programs.children(self._running)), signal.SIGKILL)

    def pause(self) -> None:
        """Its connections stay open and get no response."""
        postgres_programs.signal_all(self._running, signal.SIGSTOP)

    def resume(self) -> None:
        postgres_programs.signal_all(self._running, signal.SIGCONT)

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """It does not answer meanwhile, like a machine whose network is gone."""
        self.pause()
        try:
            yield
        finally:
            self.resume()

    def ask(self, statement: str) -> str:
        """The only value of the only row."""
        options = ("-d", "nearhit", "-A", "-t", "-c", statement)
        return (self._programs.run("psql", *self._address, *options) or "").strip()

    def copy(self, *options: str) -> Path:
        """A base backup of the current data."""
        self._copies += 1
        data = self.data.with_name(f"{self.data.name}-copy{self._copies}")
        postgres_programs.new_folder(data)
        how = ("--checkpoint=fast", "--no-sync", "--wal-method=stream", *options)
        self._programs.run("pg_basebackup", *self._address, "-D", str(data), *how)
        return data

    def restore(self, copy: Path) -> None:
        """Start on the copy; PostgreSQL must be stopped."""
        assert self._process is None, "it was stopped"
        shutil.rmtree(self.data)
        copy.rename(self.data)
        self.start()

    def new_standby(self, name: str, sockets: Path, primary: Path | None = None) -> Self:
        """A standby that runs and has all that is committed until now.

        primary: the folder of the socket through which it reaches this one; its own if None.
        """
        data = self.copy("--write-recovery-conf")
        standby = type(self)(
            self._programs, data, sockets, name=name, primary=primary or self.sockets
        )
        standby.start()
        self.wait_for(standby)
        return standby

    def lost_standby(self) -> Path:
        """The data of a standby that is stopped, as if the network separated it from this one."""
        sockets = self.data.with_name(f"{self.data.name}-sockets{self._copies}")
        standby = self.new_standby("lost", postgres_programs.new_folder(sockets))
        standby.stop()
        return standby.data

    def fail_over(self, standby: Path) -> None:
        """Start the standby in the place of this one, which is lost, and promote it."""
        self.restore(standby)
        self.promote()

    def wait_for(self, standby: "PostgresProcess") -> None:
        """Wait until the standby has all that is committed until now."""
        position = self.ask("SELECT pg_current_wal_flush_lsn()")
        reached = f"SELECT pg_last_wal_replay_lsn() >= '{position}'::pg_lsn"
        until(lambda: standby.ask(reached) == "t", "the standby does not follow")

    def require(self, standby: str) -> None:
        """From when this returns on, each commit waits for that standby."""
        self.ask(f"ALTER SYSTEM SET synchronous_standby_names = '\"{standby}\"'")
        self.ask("SELECT pg_reload_conf()")
        until(lambda: self._has("sync_state = 'sync'", standby), "the standby is not synchronous")

    def is_followed_by(self, standby: str) -> bool:
        """Whether the standby receives what is committed."""
        return self._has("state = 'streaming'", standby)

    def promote(self) -> None:
        """Returns when the standby is a primary."""
        self._programs.run("pg_ctl", "promote", "-w", "-D", str(self.data))

    def discard(self) -> None:
        """Stop it and remove its data."""
        self.kill()
        shutil.rmtree(self.data)

    def _has(self, condition: str, standby: str) -> bool:
        followers = f"FROM pg_stat_replication WHERE {condition} AND application_name = '{standby}'"
        return self.ask(f"SELECT count(*) {followers}") == "1"
