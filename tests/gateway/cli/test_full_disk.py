"""A full disk under the output ends a command with one line, and a closed output does no harm."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.gateway.support.commands import without_settings


@pytest.mark.sampled("arguments0")
@pytest.mark.parametrize("arguments", [["--help"], ["config", "check", "--json"]])
def test_a_result_that_is_not_written_is_no_stack_trace(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(  # noqa: S603  ours
            [sys.executable, "-m", "gateway", *arguments],
            env=without_settings() | {"PYTHONUNBUFFERED": ""},  # as few shells have it set
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )

    assert ended.returncode == 1
    assert ended.stderr == "nearhit: the output was not written: No space left on device\n"


def test_a_closed_output_is_no_stack_trace() -> None:
    ended = subprocess.run(
        ["/bin/sh", "-c", 'exec "$0" -m gateway --version >&-', sys.executable],
        env=without_settings(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
