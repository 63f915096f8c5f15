import os
from itertools import islice
from pathlib import Path

import pytest

from loadtests.bench_growth import cost_page, deployment, generated_corpus
from loadtests.servers import memory


@pytest.mark.thorough
@pytest.mark.slow
def test_no_question_is_asked_twice() -> None:
    questions = list(islice(generated_corpus.questions(), 30_000))

    assert len(set(questions)) == len(questions)


def test_a_process_has_memory() -> None:
    assert memory.megabytes([os.getpid()]) > 1
    assert memory.megabytes([]) == 0


@pytest.mark.thorough
@pytest.mark.slow
def test_equal_figures_make_equal_pictures(tmp_path: Path) -> None:
    panels = {"ms": {"P50": [1.0, 2.0]}, "MB": {"gateway": [10.0, 20.0]}}

    markdown = [
        cost_page.lines(tmp_path / name / "growth.svg", [10, 100], panels, xlabel="chunks")
        for name in ("one", "other")
    ]

    assert markdown == ["![ms, MB by chunks](growth.svg)"] * 2
    first, second = (tmp_path / name / "growth.svg" for name in ("one", "other"))
    assert first.read_bytes() == second.read_bytes()
    assert "gateway" in first.read_text()


def test_what_one_more_costs_is_the_slope_from_the_smallest_to_the_largest() -> None:
    cost = {"gateway_us": 1.0, "database_us": 2.0, "redis_us": 3.0, "redis_mb": 1.0}
    entries = {
        "100": cost | {"redis_mb": 10.0, "gateway_mb": 50.0},
        "1100": cost | {"redis_mb": 12.0, "gateway_mb": 40.0},
        "600": cost | {"redis_mb": 90.0, "gateway_mb": 90.0},
    }

    unit = deployment.units(
        {
            "chunks": {"bytes_a_chunk": {"1000": 9.0, "90": 8.0}, "small": {"1000": cost}},
            "tenants": {"repeated": {"10": cost, "9": {}}},
            "entries": entries,
            "writers": {"0": {}, "2": {"writes_per_second": 30.0}},
        }
    )

    assert unit.chunk_bytes == 9.0
    assert unit.repeated == cost
    assert unit.answer_redis_bytes == pytest.approx(2 * 2**20 / 1000)
    assert unit.answer_gateway_bytes == 0
    assert unit.writes_per_s == 30.0


def test_nothing_is_reckoned_from_what_was_not_measured() -> None:
    with pytest.raises(ValueError, match="measure chunks, tenants, entries, writers first"):
        deployment.section({})
