"""The rate of a host, whoever asks it."""

from ingest.web.host_rates import HostRates


def test_requests_of_several_sources_follow_each_other_at_the_interval_of_their_host() -> None:
    rates = HostRates(lambda: 100.0)

    waits = [rates.reserve("help.example", 2.0) for _ in range(3)]

    assert waits == [0.0, 2.0, 4.0]
    assert rates.reserve("other.example", 2.0) == 0.0


def test_a_slower_source_holds_back_the_next_request_of_a_faster_one() -> None:
    now_s = [0.0]
    rates = HostRates(lambda: now_s[0])

    rates.reserve("help.example", 10.0)
    now_s[0] = 4.0

    assert rates.reserve("help.example", 0.1) == 6.0


def test_a_host_that_asks_for_a_pause_is_left_alone_by_all() -> None:
    rates = HostRates(lambda: 0.0)

    rates.reserve("help.example", 0.1)
    rates.postpone("help.example", 30.0)
    rates.postpone("help.example", 5.0)

    assert rates.reserve("help.example", 0.1) == 30.0


def test_hosts_of_long_ago_take_no_memory() -> None:
    now_s = [0.0]
    rates = HostRates(lambda: now_s[0])
    for number in range(1_000):
        rates.reserve(f"host{number}", 1.0)

    now_s[0] = 1.0
    rates.reserve("another", 5.0)

    assert len(rates) == 1
    assert rates.reserve("another", 5.0) == 5.0
