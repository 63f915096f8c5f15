"""Debian's `prometheus` and `promtool`."""

import asyncio
import os
import shutil
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path

import pytest

PROGRAMS = {name: shutil.which(name) for name in ("prometheus", "promtool")}
_MISSING = "Prometheus is not installed: apt-get install prometheus"
# In CI a missing program fails the tests: `.ci/run` installs it.
needs_prometheus = pytest.mark.skipif(
    None in PROGRAMS.values() and "CI" not in os.environ, reason=_MISSING
)


async def promtool(*arguments: str, text: bytes | None = None, folder: Path | None = None) -> str:
    """What it says; the test fails if it finds a fault. text: its standard input."""
    program = PROGRAMS["promtool"]
    assert program is not None, _MISSING
    process = await asyncio.create_subprocess_exec(
        program, *arguments, stdin=PIPE, stdout=PIPE, stderr=STDOUT, cwd=folder
    )
    told, _ = await process.communicate(text)
    assert process.returncode == 0, told.decode()
    return told.decode()
