"""What counts as harm that a greedy neighbour does."""

from collections import Counter

from loadtests.soak.greedy.greedy_neighbours import Compared, measured_section
from loadtests.soak.greedy.ordinary import Measured


def measured(latency_s: float) -> Measured:
    one = Measured(queued_s=[0.5])
    for _ in range(100):
        one.searches.add(latency_s)
    one.writes.add(latency_s)
    return one


def rounds(*latencies_s: tuple[float, float]) -> Compared:
    """By round, without and with a neighbour that got something."""
    calm, greedy = zip(*latencies_s, strict=True)
    return Compared([*map(measured, calm)], [*map(measured, greedy)], Counter({"200": 1}))


def missed(compared: Compared) -> list[str]:
    section = measured_section({"writes": compared}, seconds=1, rounds=len(compared.calm))
    return [bar.what for bar in section.bars if not bar.held]


def test_up_to_twice_the_latency_is_no_harm_and_more_is() -> None:
    assert not missed(rounds((0.010, 0.0199)))
    assert missed(rounds((0.010, 0.0202))) == ["P99 of searches beside writes, times without"]


def test_one_bad_period_of_the_machine_does_not_decide_the_ratio() -> None:
    stalled = rounds((0.010, 0.015), (0.010, 0.500), (0.020, 0.030))

    assert not missed(stalled)
    figures = measured_section({"writes": stalled}, seconds=1, rounds=3).figures["writes"]
    assert [round(ratio, 1) for ratio in figures["ratios"]] == [1.5, 50.0, 1.5]
    assert figures["greedy"]["searches"]["p99_ms"] > 400


def test_a_refused_request_of_the_ordinary_tenant_is_harm_whatever_refused_it() -> None:
    compared = rounds((0.010, 0.010))
    compared.greedy[0].refused["timeout"] += 1

    assert missed(compared) == ["requests refused beside writes"]


def test_a_neighbour_that_got_nothing_proves_nothing() -> None:
    refused = Compared([measured(0.010)], [measured(0.010)], Counter({"401": 9}))

    bars = measured_section({"writes": refused}, seconds=1, rounds=1).bars

    assert [bar.what for bar in bars if not bar.held] == ["kinds of neighbours that got nothing"]
