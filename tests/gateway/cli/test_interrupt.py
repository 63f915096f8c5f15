"""Ctrl-C while the command, or what it needs, is still imported."""

import signal
import subprocess
import sys

import pytest

# Python 3.11 raises a RuntimeError of what happens in `__set_name__`, as of fields of a model.
INTERRUPTED = """
import runpy, signal, sys

class Field:
    def __set_name__(self, _owner, _name):
        signal.raise_signal(signal.SIGINT)

class Interrupting:
    def find_spec(self, name, *_):
        if name == module:
            type("Model", (), {"field": Field()})

module = sys.argv.pop()
sys.meta_path.insert(0, Interrupting())
runpy.run_module("gateway", run_name="__main__")
"""


@pytest.mark.parametrize(
    ("module", "status"),
    [("gateway.cli.main", -signal.SIGINT), ("gateway.cli.start.serve_command", 130)],
)
def test_it_ends_without_a_stack_trace(module: str, status: int) -> None:
    ended = subprocess.run(  # noqa: S603  ours
        [sys.executable, "-c", INTERRUPTED, "serve", module],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (status, "", "")
