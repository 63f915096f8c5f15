"""The soak as one runs it, for some seconds, on made-up histories."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

SECONDS_MAX = 240  # servers start and stop, and the machine may be busy


def measured(report: Path, section: str, *arguments: str) -> Any:
    """The figures of a section that has no target missed."""
    options = ("--quick", "--only", section, "--report", str(report))
    done = subprocess.run(  # noqa: S603  ours
        [sys.executable, "-m", "loadtests", "soak", *options, *arguments],
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    return json.loads(report.read_text())[section]["figures"]


@pytest.mark.thorough
def test_a_short_soak_with_faults_finds_nothing_wrong(tmp_path: Path) -> None:
    faults = ("redis killed", "worker killed")

    figures = measured(tmp_path / "soak.json", "faults", *(f"--pick={fault}" for fault in faults))

    assert figures["faults"].keys() == set(faults)


@pytest.mark.thorough
def test_a_broken_rule_of_the_cache_is_seen(tmp_path: Path) -> None:
    figures = measured(tmp_path / "soak.json", "mutants", "--pick=key-without-scope")

    assert figures["key-without-scope"]["leaked"]
