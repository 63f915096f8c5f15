"""The processes of servers and the memory that they use."""

from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit

import psutil

from loadtests.servers.service import Service


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
