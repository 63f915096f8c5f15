"""What the pages tell a reader to paste, and a gateway on which it is run."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2

from tests.docs.named_tests import ROOT

_DEVELOPERS = Path(sys.executable).parent
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


@contextmanager
def data_folder() -> Iterator[Path]:
    """Where the servers may keep their data: those of root run as nobody."""
    with tempfile.TemporaryDirectory(prefix="nearhit-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def install(folder: Path) -> Path:
    """The programs of a new virtual environment that holds what `pip install .` brings.

    The developers' environment has more, and would hide what a page forgets to install.
    """
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)  # noqa: S603  our own
    pip: list[str | Path] = [
        folder / "bin" / "pip",
        "install",
        "--quiet",
        "--no-compile",  # of 90 packages the pages import a few
        "--constraint",
        ROOT / "constraints.txt",
    ]
    subprocess.run([*pip, ROOT], check=True, stdin=subprocess.DEVNULL)  # noqa: S603  our own
    return folder / "bin"


def environment(programs: Path, **settings: str) -> dict[str, str]:
    """The terminal of a reader who has activated a virtual environment with these programs."""
    outer = {name: value for name, value in os.environ.items() if not name.startswith("NEARHIT_")}
    system = [part for part in os.environ["PATH"].split(":") if part != str(_DEVELOPERS)]
    return outer | {"PATH": ":".join([str(programs), *system])} | settings


@asynccontextmanager
async def serving(
    script: str, port: int, variables: Mapping[str, str], folder: Path = ROOT
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
