"""The soak as one runs it, for some seconds, on made-up histories."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

SECONDS_MAX = 240  # servers start and stop, and the machine may be busy


def soaked(*arguments: str) -> tuple[int, list[str]]:
    """How it ended, and the lines that it said."""
    command = [sys.executable, "-m", "loadtests.soak", *arguments]
    done = subprocess.run(  # noqa: S603  ours
        command, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
    )
    return done.returncode, done.stdout.splitlines()


@pytest.mark.thorough
def test_a_short_soak_with_faults_finds_nothing_wrong() -> None:
    ended, lines = soaked(
        *("--minutes", "0.2", "--fault-every", "1"),
        *("--fault", "redis killed", "--fault", "worker killed"),
    )

    assert lines[-1].startswith("PASS judged="), "\n".join(lines[-20:])
    assert ended == 0


@pytest.mark.thorough
def test_a_broken_rule_of_the_cache_is_seen() -> None:
    ended, lines = soaked("--mutant", "key-without-scope")

    assert lines[-1].startswith("PASS key-without-scope: caught"), "\n".join(lines[-20:])
    assert ended == 0
