"""Servers under test: processes of their own, on free ports, stopped at the end."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LISTENING = "listening on "
_START_S_MAX = 60.0


@contextmanager
def nearhit(admin_key: str) -> Iterator[str]:
    """A gateway with one worker on servers of its own, with an empty index; yields its URL."""
    with nearhit_and_database(admin_key) as (url, _):
        yield url


@contextmanager
def nearhit_and_database(admin_key: str) -> Iterator[tuple[str, str]]:
    """The same; yields its URL and its database's."""
    with tempfile.TemporaryDirectory(prefix="nearhit-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # root's PostgreSQL runs as nobody, who must get in
        environment = {"NEARHIT_DATA_DIR": f"{name}/data", "NEARHIT_ADMIN_KEY": admin_key}
        with _process(["gateway", "serve", "--port", "0"], environment, folder) as url:
            yield url, _database_url(folder / "data")


@contextmanager
def bare(answer: bytes) -> Iterator[str]:
    """The bare application, which always gives this answer; yields its URL."""
    with tempfile.TemporaryDirectory(prefix="nearhit-bench-") as name:
        file = Path(name) / "answer"
        file.write_bytes(answer)
        environment = {"BARE_ANSWER_FILE": str(file)}
        with _process(["loadtests.bare"], environment, Path(name)) as url:
            yield url


@contextmanager
def _process(module: list[str], environment: dict[str, str], folder: Path) -> Iterator[str]:
    """Runs `python -m MODULE …`; its log goes to a file, as a service's would."""
    log = folder / "log"
    with (
        log.open("w") as output,
        subprocess.Popen(  # noqa: S603  our own commands
            [sys.executable, "-m", *module], env=os.environ | environment, stdout=output
        ) as process,
    ):
        try:
            yield _url(process, log)
        finally:
            process.terminate()


def _database_url(data_dir: Path) -> str:
    """The one that the gateway was given, or else what it started itself, by its data folder."""
    if given := os.environ.get("NEARHIT_DATABASE_URL"):
        return given
    url: str = json.loads((data_dir / "servers.json").read_text())["database_url"]
    return url


def _url(process: "subprocess.Popen[bytes]", log: Path) -> str:
    """The address that the process tells in its log."""
    deadline_s = time.monotonic() + _START_S_MAX
    while time.monotonic() < deadline_s and process.poll() is None:
        for line in log.read_text().splitlines():
            if line.startswith(_LISTENING):
                return line.removeprefix(_LISTENING)
        time.sleep(0.05)
    raise RuntimeError(f"the server did not start:\n{log.read_text()}")
