"""The processes of servers: which they are, their memory and their processor time."""

import math
import resource
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Self, TypeAlias
from urllib.parse import parse_qs, urlsplit

import psutil

from loadtests.servers.service import Service

Processes: TypeAlias = Callable[[], Iterable[int]]


class Meter:
    """The processor time of groups of processes, while it is entered.

    spent_s: by group; what a process has spent that has ended is lost.
    """

    def __init__(self, *groups: Processes) -> None:
        self.spent_s = [0.0 for _ in groups]
        self._groups = groups
        self._before_s: list[dict[int, float]] = []

    def __enter__(self) -> Self:
        self._before_s = [_by_pid(group()) for group in self._groups]
        return self

    def __exit__(self, *_: object) -> None:
        for place, (group, before_s) in enumerate(zip(self._groups, self._before_s, strict=True)):
            spent = (now_s - before_s.get(pid, 0.0) for pid, now_s in _by_pid(group()).items())
            self.spent_s[place] += sum(seconds for seconds in spent if seconds >= 0)


def processor_s(pid: int) -> float:
    """The processor time so far of the process and its ended children; nan if there is none.

    Other work on the machine affects it far less than it affects wall-clock times.
    """
    try:
        return sum(psutil.Process(pid).cpu_times()[:4])  # user, system, those of children
    except psutil.NoSuchProcess:
        return math.nan


def megabytes(pids: Iterable[int]) -> float:
    """The memory of the processes (PSS: a shared page is divided among them)."""
    return sum(map(_bytes, pids)) / 2**20


def database(service: Service) -> set[int]:
    """The processes of the PostgreSQL that the gateway started; empty for another one."""
    return set().union(*map(tree, _postmasters(service)))


def redis(service: Service) -> set[int]:
    """The processes of the Valkey that the gateway started."""
    starters = {psutil.Process(pid).ppid() for pid in _postmasters(service)}
    return {
        process.pid
        for process in psutil.process_iter(["name", "ppid"])
        if process.info["ppid"] in starters and process.info["name"] == "valkey-server"
    }


def tree(pid: int) -> set[int]:
    """The process and all its descendants."""
    return {pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))}


def raise_file_limit() -> None:
    """Let this process, and those that it starts, open as many files as the system permits."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _by_pid(pids: Iterable[int]) -> dict[int, float]:
    return {pid: processor_s(pid) for pid in pids}


def _bytes(pid: int) -> int:
    with suppress(psutil.Error):  # the process has ended
        used: int = psutil.Process(pid).memory_full_info().pss
        return used
    return 0


def _postmasters(service: Service) -> list[int]:
    """The main process, if there is one, found by the folder of its socket in its command line."""
    (folder,) = parse_qs(urlsplit(service.database_url).query).get("host", [""])
    return [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if folder and {"-k", folder} <= set(process.info["cmdline"] or ())
    ]
