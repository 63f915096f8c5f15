"""A server's process, which survives if its supervisor is killed, and is found again."""

import fcntl
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from common.command_errors import CommandError
from gateway.extensions.embedded_servers import owned_servers, server_user

# All numbers here are starting values, not measured.
_START_S_MAX = 40.0  # Postgres may have to recover from a crash
_STOP_S_MAX = 20.0
_LOG_BYTES_MAX = 10_000_000
_LOG_TAIL_BYTES = 1_000

Command = Sequence[str | Path]


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """Its pid file holds its pid, and it holds an inherited lock on that file while it lives, so a
    reused pid is never mistaken for it.
    """

    name: str
    stop_signal: signal.Signals
    data_dir: Path

    @property
    def pid_file(self) -> Path:
        return self.data_dir / f"{self.name}.pid"

    @property
    def log_file(self) -> Path:
        return self.data_dir / f"{self.name}.log"

    def stop_survivor(self) -> None:
        """Stop the process if it has survived its supervisor."""
        with self.pid_file.open("a+") as file:
            if _is_alive(file):
                file.seek(0)
                pid = file.read()
                if not pid:
                    raise CommandError(
                        f"stop the {self.name} that has {self.pid_file} open, then start again"
                    )
                self._stop(int(pid), file)

    @contextmanager
    def running(
        self, command: Command, *, ready: Callable[[], bool], config: str = ""
    ) -> Iterator[Callable[[], bool]]:
        """Run a command, yield `is_alive` once it is ready, stop it at the end.

        config: the command's stdin.
        """
        # If this process is killed before it writes the pid, no pid is better than an old one.
        self.pid_file.write_text("")
        with self.pid_file.open() as file:  # stays open: the folder may be removed meanwhile
            process = self._start(command)
            is_alive = partial(_is_alive, file)
            try:
                self.pid_file.write_text(str(process.pid))
                assert process.stdin
                with suppress(BrokenPipeError), process.stdin as stdin:
                    stdin.write(config.encode())
                self._wait_for(ready, is_alive)
                yield is_alive
            finally:
                if is_alive():
                    self._stop(process.pid, file)
                process.wait(_STOP_S_MAX)

    def _stop(self, pid: int, file: IO[str]) -> None:
        """Stop the process, with SIGKILL if the stop signal fails."""
        for number in (self.stop_signal, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.kill(pid, number)
            if any(not _is_alive(file) for _ in owned_servers.attempts(_STOP_S_MAX)):
                return
        raise CommandError(
            f"{self.name} does not stop; kill the process {pid}, whose pid is in {self.pid_file}"
        )

    def _start(self, command: Command) -> subprocess.Popen[bytes]:
        # Open for reading only: the server must not change the pid that is stopped next time.
        with self.pid_file.open() as file, _open_log(self.log_file) as log:
            locked = owned_servers.try_lock(file)
            assert locked, "stop_survivor() was called before running()"
            return subprocess.Popen(  # noqa: S603 - a package's program
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=[file.fileno()],
                **server_user.process_options(),
            )

    def _wait_for(self, ready: Callable[[], bool], is_alive: Callable[[], bool]) -> None:
        for _ in owned_servers.attempts(_START_S_MAX):
            if ready():
                return
            if not is_alive():
                break
        tail = self.log_file.read_bytes()[-_LOG_TAIL_BYTES:].decode(errors="replace")
        raise CommandError(f"{self.name} does not start; {self.log_file} ends:\n{tail}")


def _is_alive(pid_file: IO[str]) -> bool:
    """Return whether the process that has locked the file, or one of its children, is alive."""
    if not owned_servers.try_lock(pid_file):
        return True
    fcntl.flock(pid_file, fcntl.LOCK_UN)
    return False


def _open_log(path: Path) -> IO[bytes]:
    if path.exists() and path.stat().st_size > _LOG_BYTES_MAX:
        path.replace(path.with_suffix(".log.old"))
    return path.open("ab")


def run_checked(command: Command, stdin: str = "") -> None:
    result = run(command, stdin)
    if result.returncode != 0:
        raise CommandError(f"{command[0]} failed:\n{result.stderr}")


def run(command: Command, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - a package's program
        command,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=_START_S_MAX,
        check=False,
        **server_user.process_options(),
    )
