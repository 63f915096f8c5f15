"""The breaker, by a clock that the tests turn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.circuit_breaker import MODEL, REDIS, CircuitBreaker


class BreakerClock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> BreakerClock:
    return BreakerClock()


@pytest.fixture
def breaker(clock: BreakerClock) -> CircuitBreaker:
    return CircuitBreaker(clock, MODEL)


def admitted(breaker: CircuitBreaker) -> int:
    number = breaker.admit()
    assert number is not None
    return number


def fail(breaker: CircuitBreaker, times: int = MODEL.failures_max) -> None:
    for _ in range(times):
        breaker.failed(admitted(breaker))


def test_fewer_failures_than_it_takes_change_nothing(breaker: CircuitBreaker) -> None:
    fail(breaker, MODEL.failures_max - 1)

    assert breaker.admit() is not None


def test_a_success_between_failures_starts_the_count_again(breaker: CircuitBreaker) -> None:
    fail(breaker, MODEL.failures_max - 1)
    breaker.succeeded(admitted(breaker))
    fail(breaker, MODEL.failures_max - 1)

    assert breaker.admit() is not None


def test_it_opens_for_a_pause_and_then_admits_one_probe(
    breaker: CircuitBreaker, clock: BreakerClock
) -> None:
    fail(breaker)
    at_once = breaker.admit()
    clock.now_s += MODEL.first_pause_s
    probes = [breaker.admit() for _ in range(3)]

    assert at_once is None
    assert [probe is not None for probe in probes] == [True, False, False]


def test_a_probe_that_succeeds_closes_it(breaker: CircuitBreaker, clock: BreakerClock) -> None:
    fail(breaker)
    clock.now_s += MODEL.first_pause_s
    breaker.succeeded(admitted(breaker))
    fail(breaker, MODEL.failures_max - 1)

    assert breaker.admit() is not None


def test_each_probe_that_fails_doubles_the_pause_up_to_the_longest(
    breaker: CircuitBreaker, clock: BreakerClock
) -> None:
    fail(breaker)
    pause_s = MODEL.first_pause_s

    for _ in range(10):
        clock.now_s += pause_s
        breaker.failed(admitted(breaker))
        pause_s = min(2 * pause_s, MODEL.longest_pause_s)
        clock.now_s += pause_s - 0.001
        assert breaker.admit() is None
        clock.now_s += 0.001 - pause_s


def test_a_probe_that_tells_nothing_makes_room_for_another(
    breaker: CircuitBreaker, clock: BreakerClock
) -> None:
    fail(breaker)
    clock.now_s += MODEL.first_pause_s
    breaker.abandoned(admitted(breaker))

    assert breaker.admit() is not None


def test_calls_that_fail_together_open_it_once(
    breaker: CircuitBreaker, clock: BreakerClock
) -> None:
    together = [admitted(breaker) for _ in range(20)]
    for number in together:
        breaker.failed(number)
    clock.now_s += MODEL.first_pause_s

    assert breaker.admit() is not None


@pytest.mark.parametrize(
    "say", [CircuitBreaker.succeeded, CircuitBreaker.failed, CircuitBreaker.abandoned]
)
def test_what_an_old_call_says_does_not_disturb_the_probe(
    breaker: CircuitBreaker, clock: BreakerClock, say: object
) -> None:
    assert callable(say)
    old = admitted(breaker)
    fail(breaker)
    clock.now_s += MODEL.first_pause_s
    probe = admitted(breaker)

    say(breaker, old)
    beside_the_probe = breaker.admit()
    breaker.succeeded(probe)

    assert beside_the_probe is None
    assert breaker.admit() is not None


def test_one_failure_of_redis_is_enough(clock: BreakerClock) -> None:
    breaker = CircuitBreaker(clock, REDIS)
    fail(breaker, 1)
    at_once = breaker.admit()
    clock.now_s += REDIS.first_pause_s

    assert at_once is None
    assert breaker.admit() is not None


@given(st.lists(st.tuples(st.sampled_from(["succeeded", "failed", "abandoned"]), st.floats(0, 9))))
def test_whatever_happened_it_admits_again_after_the_longest_pause(
    history: list[tuple[str, float]],
) -> None:
    clock = BreakerClock()
    breaker = CircuitBreaker(clock, MODEL)
    for outcome, passed_s in history:
        clock.now_s += passed_s
        number = breaker.admit()
        if number is not None:
            getattr(breaker, outcome)(number)

    clock.now_s += MODEL.longest_pause_s

    assert breaker.admit() is not None
