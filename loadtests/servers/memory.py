"""The processes of servers and the memory that they use."""

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from loadtests.servers.service import Service

_PROC = Path("/proc")


def megabytes(pids: Iterable[int]) -> float:
    """The memory of the processes (PSS: a shared page is divided among them); 0 without /proc."""
    return sum(map(_kilobytes, pids)) / 1024


def database(service: Service) -> set[int]:
    """The processes of the PostgreSQL that the gateway started; empty for another one."""
    return tree(_postmaster(service))


def redis(service: Service) -> set[int]:
    """The processes of the Valkey that the gateway started."""
    parents = _parents()
    starters = {parents[pid] for pid in _postmaster(service)}
    return {
        pid
        for pid, parent in parents.items()
        if parent in starters and "valkey-server" in _command(pid)
    }


def _postmaster(service: Service) -> set[int]:
    """The main process, found by the folder of its socket in its command line."""
    (folder,) = parse_qs(urlsplit(service.database_url).query).get("host", [""])
    return {pid for pid in _parents() if folder and f"-k {folder} " in _command(pid)}


def tree(pids: set[int]) -> set[int]:
    """The processes and all their descendants."""
    parents = _parents()
    while True:
        more = {pid for pid, parent in parents.items() if parent in pids} - pids
        if not more:
            return pids
        pids |= more


def _parents() -> dict[int, int]:
    parents_by_pid = {}
    for folder in _PROC.glob("[0-9]*"):
        with suppress(OSError):  # the process has ended
            stat = (folder / "stat").read_text()
            parents_by_pid[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
    return parents_by_pid


def _command(pid: int) -> str:
    with suppress(OSError):
        return (_PROC / str(pid) / "cmdline").read_bytes().decode().replace("\0", " ")
    return ""


def _kilobytes(pid: int) -> int:
    try:
        rolled_up = (_PROC / str(pid) / "smaps_rollup").read_text()
    except OSError:
        return 0
    parents_by_pid = re.search(r"^Pss: +(\d+) kB", rolled_up, re.MULTILINE)
    return 0 if parents_by_pid is None else int(parents_by_pid[1])
