"""The tutorial, run as it stands: each command in its order, against a gateway that it starts."""

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from loadtests.servers.ports import free_port
from tests.docs import pasted
from tests.docs.named_tests import ROOT

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

BLOCKS = pasted.blocks_of(ROOT / "docs" / "tutorial.md")
_INSTALL, _SERVE, *_REST = [block.text for block in BLOCKS if block.language == "sh"]


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def folder() -> Iterator[Path]:
    with pasted.data_folder() as folder:
        yield folder


@pytest.fixture
def environment(port: int) -> dict[str, str]:
    return pasted.environment(Path(sys.executable).parent, NEARHIT_PORT=str(port))


@pytest.fixture
async def gateway(port: int, folder: Path, environment: dict[str, str]) -> AsyncIterator[None]:
    async with pasted.serving(script_of(_SERVE, port, folder), port, environment):
        yield


def script_of(block: str, port: int, folder: Path) -> str:
    """The block with the test's own port and folder, in the environment that runs it."""
    block = block.replace("source .venv/bin/activate\n", "").replace("8080", str(port))
    block = block.replace("/tmp/nearhit-tutorial", str(folder / "data"))  # noqa: S108  the page's
    return block.replace("examples/", f"{ROOT}/examples/")


@pytest.mark.thorough
@pytest.mark.usefixtures("gateway")
async def test_every_command_of_the_tutorial_does_what_it_says(
    port: int, folder: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    (python,) = (block.text for block in BLOCKS if block.language == "python")
    (tmp_path / "ask.py").write_text(python, encoding="utf-8")
    script = "echo\n".join(script_of(block, port, folder) for block in _REST[:-1])

    ended = await pasted.run(script, environment, tmp_path)

    assert ended.status == 0, ended.err + ended.out
    for block in BLOCKS:
        if block.language in ("text", "json"):
            assert block.text.rstrip("\n") in ended.out
    assert ended.out.lower().count("cache-status") == 2
    assert "handbook/leave" in ended.out.partition("tools: ")[2]
