"""Processes of servers, and what they take of the memory."""

import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from loadtests.service import Service

_PROC = Path("/proc")


def megabytes(pids: Iterable[int]) -> float:
    """Of these and all that they started, a page shared out among those that share it (PSS).

    0 where the system does not say so in /proc.
    """
    return sum(map(_kilobytes, tree(set(pids)))) / 1024


def database(service: Service) -> set[int]:
    """PostgreSQL's processes, if they are on this machine and were started on a socket."""
    return tree(_titled(unquote(urlsplit(service.database_url).query.removeprefix("host="))))


def redis(service: Service) -> set[int]:
    """The same of its Redis."""
    return tree(_titled(unquote(urlsplit(service.redis_url).path)))


def _titled(part: str) -> set[int]:
    """Processes in whose command line that stands."""
    found = set()
    for pid in _pids():
        try:
            line = (_PROC / str(pid) / "cmdline").read_bytes()
        except OSError:
            continue  # it is gone
        if part and part.encode() in line:
            found.add(pid)
    return found


def tree(pids: set[int]) -> set[int]:
    """With all that they started, and these started."""
    parents = {}
    for pid in _pids():
        try:
            stat = (_PROC / str(pid) / "stat").read_text()
            parents[pid] = int(stat.rpartition(")")[2].split()[1])
        except OSError:
            continue
    while True:
        more = {pid for pid, its in parents.items() if its in pids} - pids
        if not more:
            return pids
        pids |= more


def _kilobytes(pid: int) -> int:
    try:
        rolled_up = (_PROC / str(pid) / "smaps_rollup").read_text()
    except OSError:
        return 0
    found = re.search(r"^Pss: +(\d+) kB", rolled_up, re.MULTILINE)
    return 0 if found is None else int(found[1])


def _pids() -> list[int]:
    return [int(folder.name) for folder in _PROC.glob("[0-9]*")] if _PROC.exists() else []
