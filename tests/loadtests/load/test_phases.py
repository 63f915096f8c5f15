import pytest

from loadtests.bench_load.phases import Phases


def phases(*searches: tuple[float, float | None]) -> Phases:
    """Of a fault from 10 s to 20 s."""
    fault_phases = Phases(begun_s=10.0, mended_s=20.0)
    for search in searches:
        fault_phases.add(*search)
    return fault_phases


def test_searches_belong_to_the_phase_in_which_they_were_due() -> None:
    by_phase = phases((9.9, 0.001), (10.0, 15.0), (19.9, None), (20.0, 0.002)).as_json()

    assert [by_phase[f"{name}_searches"] for name in ("before", "during", "after")] == [1, 2, 1]
    assert [by_phase[f"{name}_errors"] for name in ("before", "during", "after")] == [0, 1, 0]
    assert by_phase["during_p99_ms"] == 15_000
    assert by_phase["after_p50_ms"] == 2


def test_a_phase_in_which_nothing_was_answered_has_no_latency() -> None:
    assert phases((15.0, None)).as_json()["during_p99_ms"] is None


@pytest.mark.parametrize(
    ("search", "recovered_s"),
    [((22.5, None), 2.5), ((21.0, 0.3), 1.0), ((21.0, 0.2), 0.0), ((12.0, None), 0.0)],
)
def test_it_is_over_when_all_is_answered_and_in_time(
    search: tuple[float, float | None], recovered_s: float
) -> None:
    assert phases((5.0, None), search, (30.0, 0.001)).recovered_s == pytest.approx(recovered_s)
