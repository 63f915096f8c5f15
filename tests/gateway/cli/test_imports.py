"""What a gateway or a command loads costs each of its processes time and memory."""

import json
import subprocess
import sys
from importlib.metadata import packages_distributions

import pytest

from gateway.settings import found_extensions

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
# Of other packages, what tells a command from its options, and shows text.
FOR_ANY_COMMAND = {
    "annotated_doc",
    "annotated_types",
    "pydantic",
    "pydantic_core",
    "rich",
    "shellingham",
    "typer",
    "typing_extensions",
    "typing_inspection",
}
_SHOW = """
import json, sys
from gateway.configured import installed_extensions
from gateway.api import app
from gateway.api.routes.table import routes

routes(installed_extensions.switched_on(sys.argv[1]))
threads = next(line.split()[1] for line in open("/proc/self/status") if "Threads" in line)
print(json.dumps([list(sys.modules), int(threads)]))
"""


@pytest.mark.slow
def test_a_gateway_loads_nothing_that_nobody_asked_for() -> None:
    all_off = ",".join(found_extensions.found())
    command = [sys.executable, "-c", _SHOW, all_off]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)  # noqa: S603  our own

    modules, threads = json.loads(done.stdout)
    assert not [name for name in modules if name.startswith("gateway.extensions.")]
    assert not {"mcp", "mcp_types", "sse_starlette", "jsonschema"}.intersection(modules)
    assert "numpy" in modules
    assert threads == 1  # OpenBLAS would have started one for each further core


def test_the_version_loads_few_modules() -> None:
    """390 take 0.2 s; how long they take tells more of the machine."""
    command = [sys.executable, "-X", "importtime", "-m", "gateway", "--version"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603  our own

    modules = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines()]
    packages = {module.partition(".")[0] for module in modules} & packages_distributions().keys()
    assert {name for name in packages if name[0] != "_"} == FOR_ANY_COMMAND  # hooks begin with _
    assert 100 < len(modules) < 450


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
