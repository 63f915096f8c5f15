"""What the pages tell a reader to paste, and how it is run."""

import asyncio
import os
import re
import signal
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2

_READY_S_MAX = 240.0
_ENDS_S_MAX = 240.0
_BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Ended:
    status: int
    out: str
    err: str


def blocks_of(page: Path) -> list[Block]:
    """The page's fenced blocks in their order, without the indentation of a list."""
    return [
        Block(language, re.sub(rf"^{indent}", "", text, flags=re.MULTILINE))
        for indent, language, text in _BLOCK.findall(page.read_text(encoding="utf-8"))
    ]


def commands(text: str) -> list[str]:
    """The commands of a block, each with the lines that continue it."""
    found: list[str] = []
    for line in text.splitlines():
        continues = found and (found[-1].endswith(("\\", "|")) or line.startswith(" "))
        if continues:
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    return found


@asynccontextmanager
async def serving(
    script: str, port: int, variables: Mapping[str, str], folder: Path
) -> AsyncIterator[None]:
    """The gateway that the script starts in the folder, until Ctrl-C."""
    process = await asyncio.create_subprocess_exec(
        *("bash", "-ec", script),
        env=variables,
        cwd=folder,
        stdin=DEVNULL,
        stdout=DEVNULL,
        start_new_session=True,  # as the terminal's foreground job, which Ctrl-C reaches as a whole
    )
    try:
        async with asyncio.timeout(_READY_S_MAX), httpx2.AsyncClient() as client:
            while not await _is_ready(client, port):
                assert process.returncode is None, "the gateway has ended"
                await asyncio.sleep(0.05)
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        await process.wait()


async def _is_ready(client: httpx2.AsyncClient, port: int) -> bool:
    try:
        return (await client.get(f"http://127.0.0.1:{port}/readyz")).is_success
    except httpx2.TransportError:
        return False


async def run(script: str, variables: Mapping[str, str], folder: Path) -> Ended:
    """Run the script in the folder; it stops at the first command that fails."""
    process = await asyncio.create_subprocess_exec(
        *("bash", "-euo", "pipefail", "-c", script),
        env=variables,
        cwd=folder,
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
    )
    async with asyncio.timeout(_ENDS_S_MAX):
        out, err = (stream.decode() for stream in await process.communicate())
    assert process.returncode is not None
    return Ended(process.returncode, out, err)
