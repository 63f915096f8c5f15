"""Token buckets: nobody gets more than the rate, nor less by much, with Redis and without."""

import asyncio
import math
from collections.abc import Callable
from random import Random

import pytest
from redis.asyncio import Redis

from cache.errors import CacheUnavailable
from cache.rate_limit import LocalTokens, RateLimit, RateLimiter, TakenTokens
from cache.redis.store import RedisStore
from tests.cache.support.own_server import until

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

RATE = RateLimit(per_s=20.0, size=40)


class BucketTime:
    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


class Simulated:
    """Redis's bucket by a clock of ours; counts how often it was asked."""

    def __init__(self, clock: BucketTime) -> None:
        self._clock = clock
        self._tokens, self._at_s = math.inf, clock()  # a bucket begins full, whatever its size
        self.asked = 0
        self.is_away = False

    def refill(self) -> None:
        self._tokens = math.inf

    async def take_tokens(
        self, _tenant: str, _name: str, rate: RateLimit, wanted: int, /
    ) -> TakenTokens:
        await asyncio.sleep(0)
        self.asked += 1
        if self.is_away:
            raise CacheUnavailable("away")
        now_s = self._clock()
        came = (now_s - self._at_s) * rate.per_s
        self._tokens, self._at_s = min(rate.size, self._tokens + came), now_s
        taken = min(wanted, int(self._tokens + 1e-6))
        self._tokens -= taken
        wait_s = 0.0 if self._tokens >= 1 else (1 - self._tokens) / rate.per_s
        return TakenTokens(taken, int(self._tokens), wait_s)


@pytest.fixture
def clock() -> BucketTime:
    return BucketTime()


@pytest.fixture
def buckets(clock: BucketTime) -> Simulated:
    return Simulated(clock)


async def spend(hand: LocalTokens) -> bool:
    return hand.spend() or await hand.wait()


def hand(buckets: Simulated, clock: BucketTime) -> LocalTokens:
    return RateLimiter(buckets, RATE, clock).local_tokens("acme", "rate")


async def test_a_full_bucket_lets_through_what_it_holds_and_then_says_when_to_come(
    buckets: Simulated, clock: BucketTime
) -> None:
    one = hand(buckets, clock)

    through = [await spend(one) for _ in range(60)]

    assert through == [True] * RATE.size + [False] * (60 - RATE.size)
    assert one.wait_s == pytest.approx(1 / RATE.per_s)
    clock.now_s += one.wait_s
    assert await spend(one)
    assert not await spend(one)


@pytest.mark.parametrize("asked_per_s", [1, 5, 15, 19])
@pytest.mark.parametrize("workers", [1, 4])
async def test_who_stays_below_the_rate_is_never_refused(
    buckets: Simulated, clock: BucketTime, asked_per_s: int, workers: int
) -> None:
    """Also if workers in turn are asked, none of which knows what the others have."""
    hands = [hand(buckets, clock) for _ in range(workers)]

    for number in range(20 * asked_per_s):
        clock.now_s += 1 / asked_per_s
        assert await spend(hands[number % workers])


@pytest.mark.parametrize("workers", [1, 4])
async def test_whoever_asks_too_often_gets_the_rate_and_no_more(
    buckets: Simulated, clock: BucketTime, workers: int
) -> None:
    hands = [hand(buckets, clock) for _ in range(workers)]
    through, began_s = 0, clock()

    for number in range(4_000):
        clock.now_s += 1 / 200
        through += await spend(hands[number % workers])

    most = RATE.size + RATE.per_s * (clock() - began_s)
    assert 0.9 * most <= through <= most


async def test_a_busy_worker_seldom_waits_for_redis(clock: BucketTime) -> None:
    buckets = Simulated(clock)
    one = RateLimiter(buckets, RateLimit(per_s=10_000.0, size=20_000), clock).local_tokens(
        "acme", "rate"
    )
    waited = 0

    for _ in range(5_000):
        clock.now_s += 1 / 5_000
        if not one.spend():
            waited += 1
            assert await one.wait()
        await asyncio.sleep(0)

    assert waited < 10
    assert buckets.asked < 100


@pytest.mark.parametrize(("asked_per_s", "waiting_max"), [(5, 0.15), (20, 0.02), (50, 0.005)])
async def test_the_faster_they_come_the_fewer_wait_for_redis(
    clock: BucketTime, asked_per_s: int, waiting_max: float
) -> None:
    buckets, random = Simulated(clock), Random(1)  # noqa: S311  the same arrivals every time
    one = RateLimiter(buckets, RateLimit(per_s=500.0, size=1_000), clock).local_tokens(
        "acme", "rate"
    )
    waited = 0

    for _ in range(60 * asked_per_s):
        clock.now_s += random.expovariate(asked_per_s)
        if not one.spend():
            waited += 1
            assert await one.wait()
        for _ in range(3):  # as long as Redis takes
            await asyncio.sleep(0)

    assert waited <= waiting_max * 60 * asked_per_s
    assert buckets.asked <= 2.5 * 60


async def test_those_who_come_together_share_one_question(
    buckets: Simulated, clock: BucketTime
) -> None:
    one = hand(buckets, clock)

    through = await asyncio.gather(*(spend(one) for _ in range(60)))

    assert sum(through) == RATE.size
    assert buckets.asked <= 4


async def test_without_redis_a_worker_fills_a_bucket_of_its_own(
    buckets: Simulated, clock: BucketTime
) -> None:
    one = hand(buckets, clock)
    buckets.is_away = True

    first = [await spend(one) for _ in range(60)]
    clock.now_s += 1.0
    second = [await spend(one) for _ in range(60)]

    assert (sum(first), sum(second)) == (RATE.size, RATE.per_s)


async def test_a_waiter_that_is_cancelled_takes_nobody_along(
    buckets: Simulated, clock: BucketTime
) -> None:
    one = hand(buckets, clock)
    gone, stays = (asyncio.create_task(spend(one)) for _ in range(2))
    await asyncio.sleep(0)
    gone.cancel()

    assert await stays


@pytest.mark.slow
async def test_redis_keeps_the_bucket_for_all(new_store: Callable[..., RedisStore]) -> None:
    stores = [new_store(), new_store()]
    slow = RateLimit(per_s=0.1, size=40)  # no token comes back meanwhile, however busy the machine

    taken = [await stores[turn % 2].take_tokens("acme", "slow", slow, 15) for turn in range(4)]

    assert [each.tokens for each in taken] == [15, 15, 10, 0]
    assert taken[2].left == 0
    assert 0 < taken[2].wait_s <= 1 / slow.per_s
    await stores[0].take_tokens("acme", "rate", RATE, 40)
    await asyncio.sleep(0.3)
    assert 5 <= (await stores[1].take_tokens("acme", "rate", RATE, 40)).tokens <= 40
    assert (await stores[0].take_tokens("acme", "other", RATE, 40)).tokens == 40
    assert (await stores[0].take_tokens("beta", "rate", RATE, 40)).tokens == 40


@pytest.mark.slow
async def test_a_bucket_is_gone_once_it_would_be_full(redis: Redis, store: RedisStore) -> None:
    await store.take_tokens("acme", "rate", RateLimit(per_s=1_000.0, size=10), 5)

    async def is_gone() -> bool:
        return not await redis.exists(store.name("acme", "rate"))

    await until(is_gone)


async def test_without_redis_all_hands_of_a_bucket_together_get_its_rate(
    buckets: Simulated, clock: BucketTime
) -> None:
    buckets.is_away = True
    allowances = RateLimiter(buckets, RATE, clock)
    hands = [allowances.local_tokens("acme", "rate") for _ in range(50)]

    through = [await spend(each) for _ in range(3) for each in hands]

    assert sum(through) == RATE.size
    assert await spend(allowances.local_tokens("acme", "another"))
    assert await spend(allowances.local_tokens("beta", "rate"))


async def test_a_bucket_that_somebody_refills_in_redis_gives_a_worker_no_more_than_its_rate(
    buckets: Simulated, clock: BucketTime
) -> None:
    one, through, began_s = hand(buckets, clock), 0, clock()

    for _ in range(400):
        buckets.refill()
        clock.now_s += 1 / 40
        through += await spend(one)

    assert through == pytest.approx(RATE.size + RATE.per_s * (clock() - began_s), abs=1)


@pytest.mark.parametrize("tokens", ["-1000000", "nan", "none", "1e300"])
async def test_a_bucket_that_somebody_has_written_to_is_full_or_as_before(
    store: RedisStore, redis: Redis, tokens: str
) -> None:
    await store.take_tokens("acme", "rate", RATE, 5)
    await redis.hset(store.name("acme", "rate"), "tokens", tokens)

    taken = await store.take_tokens("acme", "rate", RATE, 100)

    assert (taken.tokens, taken.left) == (RATE.size, 0)
    assert taken.wait_s <= 1 / RATE.per_s
