"""The metrics of processes that share a folder, as those of `nearhit serve --workers N` do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# One process counts and holds shards; PROMETHEUS_MULTIPROC_DIR is read when the package is loaded.
_COUNT = """
from gateway.monitoring.metrics import Metrics
metrics = Metrics()
metrics.shard_event("loaded")
metrics.state.shards(3, 1_000)
metrics.state.jobs({"failed": 7}, 0.0)
"""
_SHOW = "metrics.flush(); print(metrics.registry.exposition()[0].decode())"


def output(program: str, folder: Path) -> str:
    done = subprocess.run(  # noqa: S603  our own program
        [sys.executable, "-c", program],
        env=os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(folder)},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stdout


@pytest.mark.slow
def test_counters_of_an_ended_process_stay_and_what_it_held_goes(tmp_path: Path) -> None:
    output(_COUNT, tmp_path)

    text = output(_COUNT + _SHOW, tmp_path)

    assert 'nearhit_shard_events_total{event="loaded"} 2.0' in text
    assert "nearhit_resident_shards 3.0" in text
    assert "nearhit_resident_shards_size_bytes 1000.0" in text
    assert 'nearhit_jobs{state="failed"} 7.0' in text
