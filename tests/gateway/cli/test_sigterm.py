"""A SIGTERM that comes before the server handles it ends the command all the same."""

import subprocess
import sys

import pytest

FINALIZER = """
import signal, time
from gateway.cli import sigterm

class Dropped:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)
        [].append(0)  # Python runs the handler before this

sigterm.exit_at_sigterm()
try:
    Dropped()
    time.sleep(30)
    print("lost")
finally:
    print("cleaned up")
"""
PLAIN = FINALIZER.replace("    Dropped()\n", "    signal.raise_signal(signal.SIGTERM)\n")


@pytest.mark.parametrize("script", [PLAIN, FINALIZER], ids=["anywhere", "in a finalizer"])
def test_a_command_ends_with_its_cleanup(script: str) -> None:
    ended = subprocess.run(  # noqa: S603  ours
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "cleaned up\n", "")
