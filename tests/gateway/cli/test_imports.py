"""What a gateway or a command loads costs each of its processes time and memory."""

import json
import subprocess
import sys

import pytest

from gateway import installed_extensions

COMMANDS = (
    (),
    ("demo",),
    ("serve",),
    ("worker",),
    ("ingest",),
    ("reembed",),
    ("search",),
    ("tenant",),
    ("tenant", "create"),
    ("key",),
    ("key", "create"),
    ("backfill",),
    ("audit",),
    ("audit", "index"),
    ("status",),
    ("usage",),
    ("jobs",),
    ("jobs", "list"),
    ("jobs", "show"),
    ("jobs", "replay"),
    ("jobs", "delete"),
    ("loadtest",),
    ("dead-letters",),
    ("dead-letters", "list"),
    ("evaluate",),
    ("backup",),
    ("export",),
    ("restore",),
    ("import",),
)
# What takes long to load, and is needed only by a command that does something.
HEAVY = {
    "aio_pika",
    "asyncpg",
    "hdrh",
    "numpy",
    "openai",
    "redis",
    "starlette",
    "uvicorn",
    "wordfreq",
    "wordllama",
}
_SHOW = """
import json, sys
from gateway import installed_extensions
from gateway.api import app
from gateway.api.routes.table import routes

routes(installed_extensions.switched_on(sys.argv[1]))
threads = next(line.split()[1] for line in open("/proc/self/status") if "Threads" in line)
print(json.dumps([list(sys.modules), int(threads)]))
"""


@pytest.mark.slow
def test_a_gateway_loads_nothing_that_nobody_asked_for() -> None:
    all_off = ",".join(installed_extensions.found())
    command = [sys.executable, "-c", _SHOW, all_off]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)  # noqa: S603  our own

    modules, threads = json.loads(done.stdout)
    assert not [name for name in modules if name.startswith("gateway.extensions.")]
    assert not {"mcp", "mcp_types", "sse_starlette", "jsonschema"}.intersection(modules)
    assert "numpy" in modules
    assert threads == 1  # OpenBLAS would have started one for each further core


@pytest.mark.thorough
@pytest.mark.slow
def test_every_commands_help_loads_nothing_that_takes_long_to_load() -> None:
    """And it looks for garbage seldom meanwhile."""
    script = f"""
import gc, sys
from typer.testing import CliRunner
from gateway.cli.main import app
for command in {COMMANDS}:
    shown = CliRunner().invoke(app, [*command, "--help"])
    assert shown.exit_code == 0 and "Usage" in shown.output, (command, shown.output)
print(gc.get_threshold()[0], *sorted({HEAVY} & sys.modules.keys()))
"""
    done = subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.PIPE)  # noqa: S603  our own

    threshold, *loaded = done.stdout.split()
    assert loaded == []
    assert int(threshold) >= 10_000
