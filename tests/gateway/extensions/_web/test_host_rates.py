"""The rate of a host, whoever asks it."""

from gateway.extensions._web.host_rates import HostRates

HOST = "help.example"


def test_requests_of_a_tenants_sources_follow_each_other_at_its_interval() -> None:
    now_s = [100.0]
    rates = HostRates(lambda: now_s[0])

    assert [rates.claim(HOST, "acme", 2.0) for _ in range(2)] == [0.0, 2.0]
    now_s[0] = 102.0
    assert [rates.claim(HOST, "acme", 2.0) for _ in range(2)] == [0.0, 2.0]
    assert rates.claim("other.example", "acme", 2.0) == 0.0


def test_a_slower_source_holds_back_the_next_request_of_a_faster_one_of_its_tenant() -> None:
    now_s = [0.0]
    rates = HostRates(lambda: now_s[0])

    rates.claim(HOST, "acme", 10.0)
    now_s[0] = 4.0

    assert rates.claim(HOST, "acme", 0.5) == 6.0


def test_tenants_that_want_to_be_slow_hold_up_no_other_one() -> None:
    now_s = [0.0]
    rates = HostRates(lambda: now_s[0])
    for number in range(20):
        now_s[0] += 50.0
        assert rates.claim(HOST, f"slow{number}", 50.0) == 0.0
        assert rates.claim(HOST, f"slow{number}", 50.0) == 50.0

    assert rates.claim(HOST, "acme", 0.5) == 0.5
    now_s[0] += 0.5
    assert rates.claim(HOST, "acme", 0.5) == 0.0


def test_tenants_together_ask_a_host_no_faster_than_one_of_them_would() -> None:
    rates = HostRates(lambda: 0.0)

    assert rates.claim(HOST, "acme", 2.0) == 0.0
    assert rates.claim(HOST, "other", 2.0) == 2.0


def test_a_host_that_asks_for_a_pause_is_left_alone_by_all() -> None:
    rates = HostRates(lambda: 0.0)

    rates.claim(HOST, "acme", 0.5)
    rates.postpone(HOST, 30.0)
    rates.postpone(HOST, 5.0)

    assert rates.claim(HOST, "acme", 0.5) == rates.claim(HOST, "other", 0.5) == 30.0


def test_hosts_of_long_ago_take_no_memory() -> None:
    now_s = [0.0]
    rates = HostRates(lambda: now_s[0])
    for number in range(1_000):
        rates.claim(f"host{number}", "acme", 1.0)

    now_s[0] = 1.0
    rates.claim("another", "acme", 5.0)

    assert len(rates) == 1
    assert rates.claim("another", "acme", 5.0) == 5.0
