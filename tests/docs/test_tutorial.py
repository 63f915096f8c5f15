"""The tutorial, run as it stands: each command in its order, against a gateway that it starts."""

import asyncio
import os
import re
import socket
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import pytest

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
_INSTALL, _SERVE, *_REST = re.findall(r"^```sh\n(.*?)^```", TUTORIAL, re.MULTILINE | re.DOTALL)
_PYTHON = re.findall(r"^```python\n(.*?)^```", TUTORIAL, re.MULTILINE | re.DOTALL)
_READY_S_MAX = 60.0
_ENDS_S_MAX = 120.0


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where the servers may keep their data: those of root run as nobody."""
    with tempfile.TemporaryDirectory(prefix="nearhit-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def environment(port: int) -> dict[str, str]:
    outer = {name: value for name, value in os.environ.items() if not name.startswith("NEARHIT_")}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return outer | {"PATH": path, "NEARHIT_PORT": str(port)}


@pytest.fixture
async def gateway(port: int, folder: Path, environment: dict[str, str]) -> AsyncIterator[None]:
    script = script_of(_SERVE, port, folder).replace("nearhit serve", "exec nearhit serve")
    process = await asyncio.create_subprocess_exec(
        "bash", "-ec", script, env=environment, stdout=DEVNULL
    )
    try:
        await _wait_until_ready(port, process)
        yield
    finally:
        process.terminate()
        await process.wait()


def script_of(block: str, port: int, folder: Path) -> str:
    """The block with the test's own port and folder, in the environment that runs it."""
    block = block.replace("source .venv/bin/activate\n", "").replace("8080", str(port))
    block = block.replace("/tmp/nearhit-tutorial", str(folder / "data"))  # noqa: S108  the page's
    return block.replace("examples/", f"{ROOT}/examples/")


@pytest.mark.usefixtures("gateway")
async def test_every_command_of_the_tutorial_does_what_it_says(
    port: int, folder: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "ask.py").write_text("".join(_PYTHON), encoding="utf-8")
    script = "echo\n".join(script_of(block, port, folder) for block in _REST[:-1])

    process = await asyncio.create_subprocess_exec(
        *("bash", "-euo", "pipefail", "-c", script),
        env=environment,
        cwd=tmp_path,
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
    )
    async with asyncio.timeout(_ENDS_S_MAX):
        out, err = (stream.decode() for stream in await process.communicate())

    assert process.returncode == 0, err + out
    for block in re.findall(r"^```(?:text|json)\n(.*?)\n```", TUTORIAL, re.MULTILINE | re.DOTALL):
        assert block in out
    assert out.lower().count("cache-status") == 2
    assert "handbook/leave" in out.partition("tools: ")[2]


async def _wait_until_ready(port: int, process: Process) -> None:
    async with asyncio.timeout(_READY_S_MAX), httpx2.AsyncClient() as client:
        while True:
            assert process.returncode is None, "the gateway has ended"
            try:
                ready = await client.get(f"http://127.0.0.1:{port}/readyz")
            except httpx2.TransportError:
                await asyncio.sleep(0.05)
            else:
                ready.raise_for_status()
                return
