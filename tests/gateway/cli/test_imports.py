"""What a gateway loads costs each of its processes time and memory."""

import json
import subprocess
import sys

import pytest

_SHOW = """
import json, sys
import gateway.api.app

threads = next(line.split()[1] for line in open("/proc/self/status") if "Threads" in line)
print(json.dumps([list(sys.modules), int(threads)]))
"""


def test_a_command_looks_for_garbage_seldom_while_it_imports() -> None:
    script = """
import gc
from typer.testing import CliRunner
from gateway.cli.main import app

assert CliRunner().invoke(app, ["serve", "--help"]).exit_code == 0
print(gc.get_threshold()[0])
"""
    done = subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.PIPE)  # noqa: S603  our own

    assert int(done.stdout) >= 10_000


@pytest.mark.slow
def test_a_gateway_loads_nothing_that_nobody_asked_for() -> None:
    done = subprocess.run([sys.executable, "-c", _SHOW], check=True, stdout=subprocess.PIPE)  # noqa: S603  our own

    modules, threads = json.loads(done.stdout)
    assert not {"mcp", "mcp_types", "sse_starlette", "jsonschema"}.intersection(modules)
    assert "numpy" in modules
    assert threads == 1  # OpenBLAS would have started one for each further core
