"""Answers of similar questions: given only where they have been right, and never stale."""

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from cache.lookup import CacheLookup, ServedAnswer
from cache.redis.store import RedisStore
from gateway.extensions.similar_questions.cached_question import CachedQuestion
from gateway.extensions.similar_questions.error_limit import PairCounts
from tests.cache.support.histories import at
from tests.cache.support.search_stub import Index
from tests.cache.support.worker import FakeChangeLog
from tests.gateway.extensions.similar_questions.comparing_worker import (
    ComparingWorker,
    FakePairStore,
)

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

TRUSTED = PairCounts(verified=400)  # with none wrong: under 1 %
FAMILY, OTHER_FAMILY = "a" * 32, "b" * 32


class StatsClock:
    """Stands still unless it is moved."""

    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def no_blocking_calls() -> None:
    """The driver of Redis reads its own version as it connects."""


@pytest.fixture
def ledger() -> FakePairStore:
    ledger = FakePairStore()
    ledger.counts = TRUSTED
    return ledger


@pytest.fixture
def clock() -> StatsClock:
    return StatsClock()


NewWorker = Callable[[], ComparingWorker]


@pytest.fixture
async def new_worker(
    store: RedisStore, truth: FakeChangeLog, ledger: FakePairStore, clock: StatsClock
) -> NewWorker:
    return lambda: ComparingWorker(store, truth, ledger, clock)


async def informed(worker: ComparingWorker) -> ComparingWorker:
    """Once it has read the ledger."""
    worker.stats.get("acme")
    await worker.stats.flush()
    return worker


def question(text: str, family: str = FAMILY, angle: float = 0.0) -> CachedQuestion:
    """As similar to one at angle 0 as the cosine says."""
    return CachedQuestion(family, text, np.array([np.cos(angle), np.sin(angle)], dtype=np.float16))


async def ask(
    worker: ComparingWorker, asked: CachedQuestion, index: Index, acme: int = 3
) -> ServedAnswer:
    key = f"{asked.family}{asked.text}"
    return await worker.answers.get_or_compute(
        CacheLookup("acme", key, asked), at(acme=acme), index
    )


def index(body: bytes, *, acme: int = 3) -> Index:
    return Index(body, b"thing", acme=acme)


async def test_a_similar_question_gets_the_answer_of_the_one_before(
    new_worker: NewWorker,
) -> None:
    await ask(new_worker(), question("one"), index(b"abcde"))
    worker = await informed(new_worker())

    served = await ask(worker, question("other"), index(b"abcdx"))

    assert (served.tier, served.body, served.valid_until) == ("semantic", b"abcde", at(acme=3))
    assert served.detail == "semantic 1.000"


async def test_until_the_answers_have_proved_right_none_is_served_and_all_are_verified(
    new_worker: NewWorker, ledger: FakePairStore
) -> None:
    ledger.counts = PairCounts()
    worker = await informed(new_worker())
    await ask(worker, question("one"), index(b"abcde"))

    right = await ask(worker, question("two"), index(b"abcdx"))
    wrong = await ask(worker, question("three"), index(b"vwxyz"))
    await worker.end_background()

    assert [right.tier, wrong.tier] == ["miss", "miss"]
    assert ledger.counts == PairCounts(seen=2, served=0, verified=2, wrong=1)


async def test_a_tenant_whose_answers_were_wrong_too_often_gets_none(
    new_worker: NewWorker, ledger: FakePairStore
) -> None:
    ledger.counts = PairCounts(verified=400, wrong=3)
    worker = await informed(new_worker())
    await ask(worker, question("one"), index(b"abcde"))

    assert (await ask(worker, question("two"), index(b"abcdx"))).tier == "miss"


async def test_a_wrong_one_ends_the_serving_at_once_in_the_worker_that_saw_it(
    new_worker: NewWorker, ledger: FakePairStore
) -> None:
    ledger.counts = PairCounts(verified=400)
    worker = await informed(new_worker())
    await ask(worker, question("one"), index(b"abcde"))
    assert (await ask(worker, question("two"), index(b"abcde"))).tier == "semantic"

    worker.stats.add("acme", PairCounts(verified=1, wrong=1))

    assert (await ask(worker, question("three"), index(b"abcde"))).tier == "miss"


async def test_a_stricter_limit_ends_the_serving(
    new_worker: NewWorker, ledger: FakePairStore
) -> None:
    ledger.error_max = 0.001
    worker = await informed(new_worker())
    await ask(worker, question("one"), index(b"abcde"))

    assert (await ask(worker, question("two"), index(b"abcde"))).tier == "miss"


@pytest.mark.parametrize(
    "other",
    [question("one1"), question("two", OTHER_FAMILY), question("two", angle=1.2)],
    ids=["a guard objects", "another family", "too far"],
)
async def test_a_question_that_is_not_alike_gets_its_own_answer(
    new_worker: NewWorker, other: CachedQuestion
) -> None:
    worker = await informed(new_worker())
    await ask(worker, question("one"), index(b"abcde"))

    served = await ask(worker, other, index(b"own"))

    assert (served.tier, served.body) == ("miss", b"own")


async def test_who_wants_its_own_answer_gets_it(new_worker: NewWorker) -> None:
    worker = await informed(new_worker())
    await ask(worker, question("one"), index(b"abcde"))

    served = await worker.ask("another", index(b"own"), acme=3)

    assert (served.tier, served.body) == ("miss", b"own")


async def test_an_answer_that_is_not_known_to_be_right_now_is_nobodys(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    worker = await informed(new_worker())
    await ask(worker, question("one"), index(b"abcde"))
    truth.commit("acme", b"thing")

    served = await ask(worker, question("two"), index(b"new", acme=4), acme=4)

    assert (served.tier, served.body) == ("miss", b"new")


async def test_an_answer_that_a_change_spared_still_serves_similar_questions(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    worker = await informed(new_worker())
    await ask(worker, question("one"), index(b"abcde"))
    truth.commit("acme", b"another thing")
    await worker.invalidation.drain("acme", at(acme=4))

    served = await ask(worker, question("two"), index(b"abcde", acme=4), acme=4)

    assert (served.tier, served.valid_until) == ("semantic", at(acme=4))


async def test_a_similar_answer_is_not_kept_as_the_questions_own(new_worker: NewWorker) -> None:
    worker = await informed(new_worker())
    await ask(worker, question("one"), index(b"abcde"))
    await ask(worker, question("two"), index(b"abcde"))

    own = await worker.ask(f"{FAMILY}two", index(b"own"), acme=3)

    assert (own.tier, own.body) == ("miss", b"own")


@pytest.mark.thorough
@pytest.mark.slow
async def test_some_of_what_is_served_is_verified_behind_it(
    store: RedisStore, truth: FakeChangeLog, ledger: FakePairStore
) -> None:
    worker = await informed(ComparingWorker(store, truth, ledger, chance=Random(1).random))  # noqa: S311
    await ask(worker, question("one"), index(b"abcde"))

    asked = [question("x" * length) for length in range(4, 400)]
    for each in asked:
        await ask(worker, each, index(b"abcdx"))
        await worker.end_background()

    verified = ledger.counts.verified - TRUSTED.verified
    assert 0 < verified < len(asked) / 2
    assert worker.events.count("semantic") + worker.events.count("memory") <= len(asked)


async def test_counts_that_nobody_confirms_any_more_count_for_nothing(
    new_worker: NewWorker, ledger: FakePairStore, clock: StatsClock
) -> None:
    worker = await informed(new_worker())
    await ask(worker, question("one"), index(b"abcde"))
    ledger.is_away = True

    clock.now_s += 10
    assert (await ask(worker, question("two"), index(b"abcde"))).tier == "semantic"
    clock.now_s += 60
    assert (await ask(worker, question("three"), index(b"abcde"))).tier == "miss"


async def test_counts_are_written_down_once_the_ledger_is_back(
    new_worker: NewWorker, ledger: FakePairStore, clock: StatsClock
) -> None:
    ledger.counts = PairCounts()
    worker = await informed(new_worker())
    await ask(worker, question("one"), index(b"abcde"))
    ledger.is_away = True
    await ask(worker, question("two"), index(b"abcde"))
    await worker.stats.flush()
    assert ledger.counts == PairCounts()

    ledger.is_away = False
    await worker.end_background()

    assert ledger.counts.verified == 1
