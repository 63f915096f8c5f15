"""What counts as harm that a greedy neighbour does."""

from collections import Counter

from loadtests.soak.greedy.comparison import Compared, measured_section
from loadtests.soak.greedy.ordinary import Measured


def measured(latency_s: float) -> Measured:
    one = Measured(queued_s=[0.5])
    for _ in range(100):
        one.searches.add(latency_s)
    one.writes.add(latency_s)
    return one


def missed(compared: Compared) -> list[str]:
    compared.statuses["200"] += 1
    section = measured_section({"writes": compared}, seconds=1, rounds=1)
    return [bar.what for bar in section.bars if not bar.held]


def test_up_to_twice_the_latency_is_no_harm_and_more_is() -> None:
    assert not missed(Compared(measured(0.010), measured(0.0199)))
    assert missed(Compared(measured(0.010), measured(0.0202))) == [
        "P99 of searches beside writes, times without"
    ]


def test_a_refused_request_of_the_ordinary_tenant_is_harm_whatever_refused_it() -> None:
    compared = Compared(measured(0.010), measured(0.010))
    compared.greedy.refused["timeout"] += 1

    assert missed(compared) == ["requests refused beside writes"]


def test_a_neighbour_that_got_nothing_proves_nothing() -> None:
    refused = Compared(measured(0.010), measured(0.010), Counter({"401": 9}))

    bars = measured_section({"writes": refused}, seconds=1, rounds=1).bars

    assert [bar.what for bar in bars if not bar.held] == ["kinds of neighbours that got nothing"]
