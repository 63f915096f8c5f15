"""Runs a command within limits, and ends all of its processes whatever happens to its parent.

This file is run as a script of its own and imports nothing of the project, so it starts fast. It
stands between the parent and the command:

1. The parent holds the writing end of a pipe, the lifeline, and nobody else does. The lifeline ends
   when the parent closes it, and when the parent dies in any way.
2. The command has a process group of its own. When the command ends, the lifeline ends, or the time
   is over, the supervisor kills the whole group.
3. It removes the command's folder, and exits with the command's status.
4. If the supervisor itself is killed, the kernel kills the command (Linux).
"""

import ctypes
import os
import resource
import select
import signal
import sys
import time
from contextlib import suppress

TOO_LATE = 124  # the exit status if the time was over, as of timeout(1)
_REAP_S_MAX = 10.0  # for killed processes to end
_CPU_GRACE_S = 5  # between SIGXCPU and SIGKILL
_NICENESS = 5  # the command gets about a quarter of a processor that its parent also wants
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_IS_LINUX = sys.platform == "linux"


def main(arguments: list[str]) -> int:
    lifeline, memory_bytes, cpu_s, file_bytes, seconds, folder, passed, *command = arguments
    os.set_inheritable(int(lifeline), False)
    signals = _receive_signals()
    if _IS_LINUX:  # orphans of the command become children of this process, which waits for them
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    supervisor, child = os.getpid(), os.fork()
    if child == 0:
        _execute(supervisor, command, int(memory_bytes), int(cpu_s), int(file_bytes))
    with suppress(OSError):
        os.setpgid(child, child)  # the child does so too: whichever comes first
    for descriptor in (0, 1, 2, *map(int, filter(None, passed.split(",")))):
        with suppress(OSError):
            os.close(descriptor)  # they are the child's: at its end the parent reads their end
    is_late = _wait(int(lifeline), signals, child, float(seconds) or None)
    status = _end(child)
    if folder:
        _remove(folder)
    if is_late:
        return TOO_LATE
    return status if status >= 0 else 128 - status


def _receive_signals() -> int:
    """The end of a pipe that receives the number of each signal."""
    receiving, sending = os.pipe()
    os.set_blocking(sending, False)
    signal.set_wakeup_fd(sending, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, *_STOPS):
        signal.signal(number, lambda *_: None)
    return receiving


def _execute(
    supervisor: int, command: list[str], memory_bytes: int, cpu_s: int, file_bytes: int
) -> None:
    """In the child: never returns."""
    try:
        os.setpgid(0, 0)
        for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ, *_STOPS):
            signal.signal(number, signal.SIG_DFL)
        if _IS_LINUX:
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
        if os.getppid() != supervisor:  # it was killed before the line above
            os._exit(1)
        os.nice(_NICENESS)
        _limit(resource.RLIMIT_AS, memory_bytes, memory_bytes)
        _limit(resource.RLIMIT_CPU, cpu_s, cpu_s + _CPU_GRACE_S)
        _limit(resource.RLIMIT_FSIZE, file_bytes, file_bytes)
        _limit(resource.RLIMIT_CORE, 0, 0)
        os.execvp(command[0], command)  # noqa: S606  the callers' commands are constants
    finally:
        os._exit(127)


def _limit(kind: int, soft: int, hard: int) -> None:
    """Lower the limit; one that is lower already, of a supervisor around this one, stays."""
    now = resource.getrlimit(kind)[1]
    if now != resource.RLIM_INFINITY:
        soft, hard = min(soft, now), min(hard, now)
    with suppress(ValueError, OSError):  # macOS does not know all of them
        resource.setrlimit(kind, (soft, hard))


def _wait(lifeline: int, signals: int, child: int, seconds: float | None) -> bool:
    """Wait for a reason to end the command; whether it is that its time is over."""
    until = None if seconds is None else time.monotonic() + seconds
    while True:
        left = None if until is None else max(0.0, until - time.monotonic())
        ready, _, _ = select.select([lifeline, signals], [], [], left)
        if not ready:
            return True
        if lifeline in ready:
            return False
        if not set(_STOPS).isdisjoint(os.read(signals, 4_096)):
            return False
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return False


def _end(child: int) -> int:
    """Kill the group and wait for its processes; the exit status of the command.

    The command is reaped last, so that nobody else gets its number before the group is killed.
    """
    with suppress(OSError):
        os.killpg(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    until = time.monotonic() + _REAP_S_MAX
    with suppress(ChildProcessError):
        while time.monotonic() < until:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.01)
    return status


def _remove(folder: str) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
