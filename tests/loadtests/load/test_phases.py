import pytest

from loadtests.bench import measurement
from loadtests.load.figures import CountedSearch

Figures = dict[str, float | None]


def by_phase(*searches: tuple[float, float | None]) -> Figures:
    """Of a fault from 10 s to 20 s."""
    counted = [
        CountedSearch(at_s, seconds, is_answered=seconds is not None) for at_s, seconds in searches
    ]
    return measurement.by_phase(counted, 10.0, 20.0)


def test_searches_belong_to_the_phase_in_which_they_were_due() -> None:
    figures = by_phase((9.9, 0.001), (10.0, 15.0), (19.9, None), (20.0, 0.002))

    assert [figures[f"{name}_searches"] for name in ("before", "during", "after")] == [1, 2, 1]
    assert [figures[f"{name}_errors"] for name in ("before", "during", "after")] == [0, 1, 0]
    assert figures["during_p99_ms"] == 15_000
    assert figures["after_p50_ms"] == 2


def test_a_phase_in_which_nothing_was_answered_has_no_latency() -> None:
    assert by_phase((15.0, None))["during_p99_ms"] is None


def test_a_search_that_timed_out_is_an_error_and_no_latency() -> None:
    figures = measurement.by_phase([CountedSearch(15.0, 5.0, is_answered=False)], 10.0, 20.0)

    assert (figures["during_errors"], figures["during_p99_ms"]) == (1, None)


@pytest.mark.parametrize(
    ("search", "recovered_s"),
    [((22.5, None), 2.5), ((21.0, 0.3), 1.0), ((21.0, 0.2), 0.0), ((12.0, None), 0.0)],
)
def test_it_is_over_when_all_is_answered_and_in_time(
    search: tuple[float, float | None], recovered_s: float
) -> None:
    figures = by_phase((5.0, None), search, (30.0, 0.001))

    assert figures["recovered_s"] == pytest.approx(recovered_s)
