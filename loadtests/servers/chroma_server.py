"""Chroma's own server, with an empty folder, on a free port."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from loadtests.servers.ports import free_port

HOST = "127.0.0.1"
_START_S_MAX = 60.0
_POLL_S = 0.05


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
    program = str(Path(sys.executable).with_name("chroma"))
    with tempfile.TemporaryDirectory(prefix="chroma-") as folder:
        port = free_port()
        command = [program, "run", "--path", folder, "--host", HOST, "--port", str(port)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:  # noqa: S603
            server = ChromaProcess(port, process.pid)
            try:
                _wait(server.url, process)
                yield server
            finally:
                process.terminate()


def _wait(url: str, process: "subprocess.Popen[bytes]") -> None:
    deadline_s = time.monotonic() + _START_S_MAX
    while process.poll() is None and time.monotonic() < deadline_s:
        try:
            httpx2.get(f"{url}/api/v2/heartbeat").raise_for_status()
        except httpx2.HTTPError:
            time.sleep(_POLL_S)
        else:
            return
    raise RuntimeError("chroma did not start")
