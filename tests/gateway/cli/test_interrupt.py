"""Ctrl-C while the command is still imported."""

import signal
import subprocess
import sys

INTERRUPTED = """
import runpy, signal, sys

class Interrupting:
    def find_spec(self, name, *_):
        if name == "gateway.cli.main":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
runpy.run_module("gateway", run_name="__main__")
"""


def test_it_ends_without_a_stack_trace() -> None:
    ended = subprocess.run(  # noqa: S603  ours
        [sys.executable, "-c", INTERRUPTED],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, "", "")
