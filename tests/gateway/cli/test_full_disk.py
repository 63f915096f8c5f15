"""A full disk under the output ends a command with one line."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.gateway.support.commands import without_settings


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
