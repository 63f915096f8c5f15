"""What nobody asked for is not loaded: it would cost each process time and memory."""

import subprocess
import sys

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("package", ["mcp", "mcp_types", "sse_starlette", "jsonschema"])
def test_a_gateway_that_nobody_calls_so_has_not_loaded(package: str) -> None:
    code = f"import sys, gateway.api.app; sys.exit({package!r} in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], check=False)  # noqa: S603  our own

    assert done.returncode == 0
