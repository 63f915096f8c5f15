"""The benchmark of load: when its targets in milliseconds are judged."""

import math

import pytest

from loadtests.scenarios import agents_load


@pytest.mark.parametrize("p99s_ms", [[1.6, 1.6], [0.8, 2.4], [0.81, 1.0]])
def test_a_bare_app_within_half_of_its_usual_figure_is_usual(p99s_ms: list[float]) -> None:
    assert agents_load.is_usual(p99s_ms, 1.6)
    assert agents_load.usual_sentence(p99s_ms, 1.6).endswith("here it is judged.")


@pytest.mark.parametrize("p99s_ms", [[1.6, 2.5], [0.7, 1.6], [math.nan, 1.6]])
def test_a_run_is_not_judged_if_the_bare_app_was_unusual_once(p99s_ms: list[float]) -> None:
    assert not agents_load.is_usual(p99s_ms, 1.6)
    assert agents_load.usual_sentence(p99s_ms, 1.6).endswith("here it is not judged.")


def test_the_page_says_what_the_bare_app_had_and_usually_has() -> None:
    sentence = agents_load.usual_sentence([1.234, 2.0], 1.6)

    assert "1.23 and 2.00 ms at 500 requests per second" in sentence
    assert "usually has 1.6 ms" in sentence
