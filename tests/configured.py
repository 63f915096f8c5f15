"""Runs the suite on servers named by URLs, as in production.

    python -m tests.configured [PYTEST ARGUMENTS]

Redis is the machine's own `redis-server`, on TCP; PostgreSQL is the wheel's, by its URL.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import redis

from gateway.extensions.embedded_servers import owned_servers
from tests import system_programs
from tests.conftest import data_dir

_PORT = 16379
_START_S_MAX = 60.0


def main() -> int:
    with (
        data_dir() as folder,
        owned_servers.own_servers(folder) as servers,
        _redis() as redis_url,
    ):
        environment = os.environ | {
            "NEARHIT_DATABASE_URL": servers.database_url,
            "NEARHIT_REDIS_URL": redis_url,
        }
        command = [sys.executable, "-m", "pytest", *sys.argv[1:]]
        return subprocess.run(command, env=environment, check=False).returncode  # noqa: S603  ours


@contextmanager
def _redis() -> Iterator[str]:
    program = system_programs.find("redis-server")
    if program is None:
        raise SystemExit("redis-server is not installed: run python -m tests.system_programs")
    command = [str(program), "--port", str(_PORT), "--bind", "127.0.0.1", "--save", ""]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603  found above
    try:
        url = f"redis://127.0.0.1:{_PORT}/0"
        print(f"Redis {_version(url)}")
        yield url
    finally:
        process.terminate()
        process.wait()


def _version(url: str) -> str:
    deadline_s = time.monotonic() + _START_S_MAX
    with redis.Redis.from_url(url) as client:
        while True:
            try:
                return str(client.info("server")["redis_version"])
            except redis.ConnectionError:
                if time.monotonic() > deadline_s:
                    raise


if __name__ == "__main__":
    sys.exit(main())
