"""Chroma's own server, with an empty folder, on a free port."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2

from loadtests.servers import program
from loadtests.servers.ports import free_port
from loadtests.servers.waiting import until

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class ChromaProcess:
    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"


@contextmanager
def started() -> Iterator[ChromaProcess]:
    """The package `chromadb` brings the program; it need not be imported."""
    chroma, port = str(Path(sys.executable).with_name("chroma")), free_port()
    with (
        tempfile.TemporaryDirectory(prefix="chroma-") as folder,
        program.running(
            [chroma, "run", "--path", folder, "--host", HOST, "--port", str(port)]
        ) as process,
    ):
        server = ChromaProcess(port, process.pid)
        until(lambda: _answers(server.url), "chroma did not start")
        yield server


def _answers(url: str) -> bool:
    with suppress(httpx2.HTTPError):
        return httpx2.get(f"{url}/api/v2/heartbeat").is_success
    return False
