"""Debian's `prometheus` and `promtool`."""

import asyncio
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path

from tests import system_programs


async def promtool(*arguments: str, text: bytes | None = None, folder: Path | None = None) -> str:
    """What it says; the test fails if it finds a fault. text: its standard input."""
    program = system_programs.require("prometheus", "promtool")
    process = await asyncio.create_subprocess_exec(
        program, *arguments, stdin=PIPE, stdout=PIPE, stderr=STDOUT, cwd=folder
    )
    told, _ = await process.communicate(text)
    assert process.returncode == 0, told.decode()
    return told.decode()
