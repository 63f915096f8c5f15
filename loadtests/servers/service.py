"""Gateways and other servers under test, each a process on a free port, stopped at the end."""

import json
import os
import re
import secrets
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from loadtests.servers import program
from loadtests.servers.waiting import until

# A line of Nearhit's log, in either format, or what other servers print.
_LISTENING = re.compile(r"^.*\blistening\b.*?(http://[^\s\"]+).*\n", re.MULTILINE)
_START_S_MAX = 240.0  # a busy machine starts a gateway in minutes
_SERVE = ("gateway", "serve", "--port", "0")
# Limits are checked, as always, but high enough that no request is rejected. Tenants may share.
UNLIMITED = {
    "NEARHIT_KEY_REQUESTS_PER_S": "1000000",
    "NEARHIT_TENANT_REQUESTS_PER_S": "1000000",
    "NEARHIT_CONCURRENT_REQUESTS_MAX": "400000",
    "NEARHIT_ADDRESS_FAILURES_PER_S": "0",
    "NEARHIT_CONNECTIONS_MAX": "1600000",
    "NEARHIT_PUBLIC_DOCUMENTS": "true",
}
# Measures the answers of similar questions although the searches call no model.
COMPARE_ALL = {"NEARHIT_SIMILAR_QUESTIONS_SEARCHES": "all"}


@dataclass(frozen=True, slots=True)
class Service:
    """A gateway with one worker, and the servers that it uses."""

    url: str
    admin_key: str
    database_url: str
    redis_url: str
    pid: int

    @property
    def ways(self) -> Sequence[str]:
        """The URLs for requests."""
        return [self.url]

    @property
    def server_settings(self) -> dict[str, str]:
        """The settings of another process on the same servers."""
        return {
            "NEARHIT_DATABASE_URL": self.database_url,
            "NEARHIT_REDIS_URL": self.redis_url,
            "NEARHIT_ADMIN_KEY": self.admin_key,
        }


@contextmanager
def server_folder() -> Iterator[Path]:
    """A temporary folder for servers and their sockets."""
    with tempfile.TemporaryDirectory(prefix="nearhit-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # as root, PostgreSQL runs as nobody, who has to enter it
        yield folder


def new_admin_key() -> str:
    return f"nh_{secrets.token_urlsafe(32)}"


@contextmanager
def nearhit(settings: Mapping[str, str] | None = None) -> Iterator[Service]:
    """A gateway with its own PostgreSQL and Redis, and an empty index.

    settings: further environment variables.
    """
    admin_key = new_admin_key()
    with server_folder() as folder:
        environment = {"NEARHIT_DATA_DIR": f"{folder}/data", "NEARHIT_ADMIN_KEY": admin_key}
        with process(_SERVE, environment | dict(settings or {}), folder) as (url, pid):
            database_url, redis_url = _servers(folder / "data")
            yield Service(url, admin_key, database_url, redis_url, pid)


@contextmanager
def beside(
    service: Service,
    settings: Mapping[str, str] | None = None,
    *,
    port: int = 0,
    launcher: Sequence[str] = _SERVE[:1],
) -> Iterator[Service]:
    """Another gateway on the same PostgreSQL and Redis.

    launcher: the module to run, and its own arguments.
    """
    command = (*launcher, *_SERVE[1:-1], str(port))
    environment = service.server_settings | dict(settings or {})
    with (
        tempfile.TemporaryDirectory(prefix="nearhit-bench-") as name,
        process(command, environment, Path(name)) as (url, pid),
    ):
        yield replace(service, url=url, pid=pid)


@contextmanager
def bare(answer: bytes) -> Iterator[tuple[str, int]]:
    """The bare app, which always returns this answer; yields its URL and pid."""
    with tempfile.TemporaryDirectory(prefix="nearhit-bench-") as name:
        file = Path(name) / "answer"
        file.write_bytes(answer)
        with process(["loadtests.servers.serve", str(file)], {}, Path(name)) as (url, pid):
            yield url, pid


@contextmanager
def process(
    module: Sequence[str], environment: Mapping[str, str], folder: Path
) -> Iterator[tuple[str, int]]:
    """Run `python -m MODULE …` with its log in a file; yields its URL and pid."""
    log, command = folder / "log", [sys.executable, "-m", *module]
    with program.running(command, UNLIMITED | dict(environment), log) as started:

        def is_over() -> bool:
            return started.has_ended or _LISTENING.search(log.read_text()) is not None

        with suppress(TimeoutError):
            until(is_over, "", _START_S_MAX)
        address = _LISTENING.search(log.read_text())
        if address is None:
            raise RuntimeError(f"the server did not start:\n{log.read_text()}")
        yield address[1], started.pid


def _servers(data_dir: Path) -> tuple[str, str]:
    """The URLs of PostgreSQL and Redis, from the environment or of the embedded servers."""
    if "NEARHIT_DATABASE_URL" in os.environ:
        return os.environ["NEARHIT_DATABASE_URL"], os.environ["NEARHIT_REDIS_URL"]
    started = json.loads((data_dir / "servers.json").read_text())
    return started["database_url"], started["redis_url"]
