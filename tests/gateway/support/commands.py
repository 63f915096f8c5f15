"""The `nearhit` command as tests run it: as a process, or in this one, which is quicker."""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping

import structlog
from typer.testing import CliRunner, Result

from gateway.cli.main import app
from gateway.cli.start import serve_command
from gateway.monitoring import logs
from gateway.monitoring.logs import FLUSH_S
from gateway.settings.settings import Settings

LEAVE = "# Leave\n\nEverybody gets 25 days of annual leave a year.\n"
WAIT_S_MAX = 120.0


def environment_of(settings: Settings) -> dict[str, str]:
    """What a command needs to know of the test's servers."""
    return serve_command.environment(settings) | {
        "NEARHIT_CACHE_PREFIX": settings.cache_prefix,
        "NEARHIT_REDIS_TIMEOUT_S": str(settings.redis_timeout_s),
        "NEARHIT_LOG_LEVEL": "warning",
    }


async def process_output(environment: dict[str, str], *arguments: str) -> tuple[int, str, str]:
    """The exit status of a command in a process of its own, and what it writes."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", *arguments),
        env=without_settings() | environment,
        stdout=PIPE,
        stderr=PIPE,
        stdin=DEVNULL,
    )
    async with asyncio.timeout(WAIT_S_MAX):
        out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def fails(environment: dict[str, str], *arguments: str) -> str:
    """What a command says that can't be done: one line, without a stack trace."""
    status, out, err = await process_output(environment, *arguments)
    assert (status, out) == (1, ""), err
    (line,) = err.splitlines()
    assert line.startswith("nearhit: ")
    return line


def without_settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("NEARHIT_")}


async def command(environment: Mapping[str, str], *arguments: str) -> Result:
    """What the command says and does, in a thread of its own, for it starts a loop of its own."""
    await asyncio.sleep(FLUSH_S)  # after it a gateway of this process has written its lines
    runner = CliRunner()
    unset = {name: None for name in os.environ if name.startswith("NEARHIT_")}
    before = structlog.get_config()
    logs.configure("error")  # it writes what it is asked for alone
    try:
        return await asyncio.to_thread(
            runner.invoke, app, list(arguments), env={**unset, **environment}
        )
    finally:
        structlog.configure(**before)


async def succeeds(environment: Mapping[str, str], *arguments: str) -> str:
    done = await command(environment, *arguments)
    assert done.exit_code == 0, f"{done.output} {done.exception!r}"
    assert done.stderr == "", done.stderr
    return done.stdout


async def refused(environment: Mapping[str, str], *arguments: str) -> str:
    done = await command(environment, *arguments)
    assert done.exit_code == 1, f"{done.output} {done.exception!r}"
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line
