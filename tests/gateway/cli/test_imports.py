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


@pytest.mark.slow
def test_a_gateway_loads_nothing_that_nobody_asked_for() -> None:
    done = subprocess.run([sys.executable, "-c", _SHOW], check=True, stdout=subprocess.PIPE)  # noqa: S603  our own

    modules, threads = json.loads(done.stdout)
    assert not {"mcp", "mcp_types", "sse_starlette", "jsonschema"}.intersection(modules)
    assert "numpy" in modules
    assert threads == 1  # OpenBLAS would have started one for each further core
