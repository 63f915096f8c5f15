import os
from itertools import islice
from pathlib import Path

import pytest

from loadtests import memory
from loadtests.bench_growth import made_up


def test_no_question_is_asked_twice() -> None:
    asked = list(islice(made_up.questions(), 30_000))

    assert len(set(asked)) == len(asked)


def test_a_process_has_memory() -> None:
    assert memory.megabytes([os.getpid()]) > 1
    assert memory.megabytes([]) == 0


def test_equal_figures_make_equal_pictures(tmp_path: Path) -> None:
    plot = pytest.importorskip("loadtests.bench_growth.plot", exc_type=ImportError)
    panels = {"ms": {"P50": [1.0, 2.0]}, "MB": {"gateway": [10.0, 20.0]}}

    shown = [
        plot.lines(tmp_path / name / "growth.svg", [10, 100], panels, xlabel="chunks")
        for name in ("one", "other")
    ]

    assert shown == ["![ms, MB by chunks](growth.svg)"] * 2
    one, other = (tmp_path / name / "growth.svg" for name in ("one", "other"))
    assert one.read_bytes() == other.read_bytes()
    assert "gateway" in one.read_text()
