"""Clients that are generated from the API's description write, search and subscribe."""

import asyncio
import os
import shutil
from pathlib import Path
from typing import NamedTuple

import orjson
import pytest

from gateway.api import openapi
from tests.gateway.support.gateways import Caller
from tests.gateway.support.routes import ROUTES

pytestmark = [pytest.mark.anyio, pytest.mark.clients]

EXAMPLES = Path(__file__).parents[3] / "examples" / "clients" / "generated"
GENERATORS = Path(__file__).parents[3] / ".venv" / "generators"
PYTHON = GENERATORS / "python" / "bin"
TYPESCRIPT = GENERATORS / "typescript" / "node_modules"


class Shell(NamedTuple):
    """Runs commands in a folder that has the examples and the API's description."""

    folder: Path
    environment: dict[str, str]

    async def run(self, *command: str) -> str:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=self.folder,
            env=self.environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output = (await process.communicate())[0].decode()
        assert process.returncode == 0, output
        return output


@pytest.fixture(scope="module")
def description() -> bytes:
    """As `/openapi.json` is."""
    return orjson.dumps(openapi.document(ROUTES))


@pytest.fixture
async def shell(description: bytes, ana: Caller, tmp_path: Path) -> Shell:
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    (tmp_path / "openapi.json").write_bytes(description)
    return Shell(
        tmp_path,
        {
            "PATH": f"{PYTHON}:{os.environ['PATH']}",
            "NEARHIT_URL": str(ana.client.base_url).rstrip("/"),
            "NEARHIT_KEY": ana.key or "",
        },
    )


async def test_a_python_client_is_generated_without_a_warning_and_works(shell: Shell) -> None:
    generated = await shell.run(
        *("openapi-python-client", "generate", "--path", "openapi.json"),
        *("--config", "openapi-python-client.yaml"),
        *("--meta", "none", "--output-path", "nearhit_client", "--fail-on-warning"),
    )
    output = await shell.run("python", "-W", "error", "python_client.py")

    assert len(generated.splitlines()) == 1  # which says where it is
    assert output.splitlines() == [
        "search: generated/leave Everybody gets 25 days of annual leave.",
        "plan: [('leave', 'generated/leave'), ('days', 'generated/leave')]",
        "event: 1 ['generated/leave']",
    ]


async def test_types_are_generated_for_typescript_and_a_client_that_fits_them_works(
    shell: Shell,
) -> None:
    (shell.folder / "node_modules").symlink_to(TYPESCRIPT)
    tools = TYPESCRIPT / ".bin"

    generated = await shell.run(
        *(f"{tools}/openapi-typescript", "openapi.json", "-o", "nearhit.d.ts"),
        "--default-non-nullable=false",  # what has a default may be left out
    )
    await shell.run(f"{tools}/tsc")
    output = await shell.run("node", "typescript_client.js")

    assert "warn" not in generated.lower()
    assert output.splitlines() == [
        "search: generated/leave Everybody gets 25 days of annual leave.",
        "plan: leave: generated/leave days: generated/leave",
        "event: 1 generated/leave",
    ]
