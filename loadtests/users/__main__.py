"""Locust's users against a new gateway, or against a deployment.

    python -m loadtests.users [URL --admin-key KEY] [--shape SHAPE] [--users N] [--web] …

Creates tenants, keys and documents, runs Locust and deletes the tenants. Exits with 1 if an answer
was stale or leaked, or more than one request in a thousand failed, or as a budget file says, which
is one of `nearhit loadtest`.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from loadtests.loadtest import budget
from loadtests.loadtest.budget import InvalidBudget, Limit
from loadtests.loadtest.environment import Deployment, load_environment
from loadtests.servers import service
from loadtests.users import user_plan
from loadtests.users.user_plan import UserOptions

_LOCUSTFILE = Path(__file__).parent / "locustfile.py"


def main() -> None:
    arguments = _arguments()
    options = UserOptions(
        shape=arguments.shape,
        users=arguments.users,
        seconds=arguments.seconds,
        limits=_limits(arguments.budget),
        report=arguments.report.absolute(),
        web=arguments.web,
    )
    with _deployment(arguments) as deployment:
        raise SystemExit(asyncio.run(_run(deployment, options)))


def _limits(file: Path | None) -> Sequence[Limit]:
    try:
        return budget.read(file)
    except InvalidBudget as error:
        raise SystemExit(str(error)) from None


@contextmanager
def _deployment(arguments: argparse.Namespace) -> Iterator[Deployment]:
    url, admin_key = arguments.url, arguments.admin_key
    if url is not None:
        if admin_key is None:
            raise SystemExit("a URL needs --admin-key, the operator's key, which creates tenants")
        yield Deployment(url, admin_key=admin_key, data=arguments.data)
        return
    with service.nearhit({"NEARHIT_LOG_LEVEL": "error"}) as gateway:
        yield Deployment(gateway.url, admin_key=gateway.admin_key, data=arguments.data)


async def _run(deployment: Deployment, options: UserOptions) -> int:
    with tempfile.TemporaryDirectory(prefix="nearhit-load-") as name:
        file = Path(name) / "plan"
        async with load_environment(deployment, seed=1, writes=True) as environment:
            user_plan.write(environment, options, file)
            command = [sys.executable, "-m", "locust", "-f", str(_LOCUSTFILE), *_mode(options)]
            variables = os.environ | {user_plan.VARIABLE: str(file)}
            process = await asyncio.create_subprocess_exec(*command, env=variables)
            try:
                return await process.wait()
            finally:
                if process.returncode is None:  # Ctrl-C reached Locust too; it writes its report
                    await process.wait()


def _mode(options: UserOptions) -> list[str]:
    """Locust's options: its page, which proposes our numbers, or none."""
    if not options.web:
        return ["--headless", "--only-summary"]
    page = ["--web-host", "127.0.0.1", "--users", str(options.users)]
    return [*page, "--spawn-rate", str(user_plan.SPAWNED_A_SECOND)]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m loadtests.users",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("url", nargs="?", help="of a deployment; without it a gateway is started")
    add("--admin-key", default=os.environ.get("NEARHIT_LOADTEST_ADMIN_KEY"))
    add("--shape", choices=user_plan.SHAPES, default="steady")
    add("--users", type=int, default=50, help="the maximum number of users")
    add("--seconds", type=float, default=60.0, help="a soak takes an hour or more")
    add("--data", type=Path, help="the folder of real histories")
    page = "serve Locust's page on port 8089, which sets the number of users if the shape is steady"
    add("--web", action="store_true", help=page)
    add("--budget", type=Path, help="TOML file of limits")
    add("--report", type=Path, default=Path("report.html"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
