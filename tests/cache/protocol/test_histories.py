"""Workers that have read different histories of the database, on one Redis."""

from collections.abc import Callable

import pytest

from cache.lookup import CacheLookup, ComputedAnswer
from cache.protocol import Revisions
from cache.redis.store import RedisStore
from tests.cache.support.histories import at
from tests.cache.support.search_stub import Index
from tests.cache.support.worker import CacheWorker, FakeChangeLog

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

NewWorker = Callable[[], CacheWorker]
ELSEWHERE = Revisions("b2", {"acme": 3})


async def ask(worker: CacheWorker, body: bytes, revisions: Revisions) -> tuple[str, bytes]:
    async def compute() -> ComputedAnswer:
        return ComputedAnswer(body, revisions)

    served = await worker.answers.get_or_compute(CacheLookup("acme", "key"), revisions, compute)
    return served.tier, served.body


async def test_the_same_revision_of_two_histories_is_two_answers_in_memory(
    new_worker: NewWorker,
) -> None:
    worker = new_worker()

    assert await ask(worker, b"lost", at(acme=3)) == ("miss", b"lost")
    assert await ask(worker, b"now", ELSEWHERE) == ("miss", b"now")
    assert await ask(worker, b"never", ELSEWHERE) == ("memory", b"now")


async def test_what_redis_holds_of_another_history_is_gone(
    new_worker: NewWorker, store: RedisStore
) -> None:
    await ask(new_worker(), b"lost", at(acme=3))

    assert await ask(new_worker(), b"now", ELSEWHERE) == ("miss", b"now")
    assert await ask(new_worker(), b"never", ELSEWHERE) == ("redis", b"now")
    assert (await store.lookup("acme", "a1", "key")).state is None


async def test_an_answer_computed_in_another_history_is_not_stored(
    new_worker: NewWorker, store: RedisStore
) -> None:
    worker = new_worker()

    async def compute() -> ComputedAnswer:
        return ComputedAnswer(b"from the server that lives on", ELSEWHERE)

    served = await worker.answers.get_or_compute(CacheLookup("acme", "key"), at(acme=3), compute)

    assert not served.stored
    assert "refused" in worker.events
    assert (await store.lookup("acme", "a1", "key")).entry is None
    assert await ask(worker, b"right", at(acme=3)) == ("miss", b"right")


async def test_changes_of_another_history_drain_nothing(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    worker = new_worker()
    await worker.ask("key", Index(b"one", acme=3), acme=3)
    truth.commit("acme", b"other")
    truth.history = "b2"

    await worker.invalidation.drain("acme", at(acme=4))

    assert "unavailable" in worker.events
    assert "drained" not in worker.events


async def test_a_redis_that_is_ahead_of_the_database_is_not_believed(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    truth.commit("acme", b"other")
    await new_worker().ask("key", Index(b"lost", acme=4), acme=4)
    truth.revisions["acme"] = 3
    worker = new_worker()

    served = await worker.ask("key", Index(b"now", acme=3), acme=3)

    assert (served.tier, served.body, served.stored) == ("miss", b"now", False)
    assert "went_back" in worker.events
    assert truth.history != "a1"


async def test_a_redis_that_is_ahead_of_a_reader_alone_is_believed(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    await new_worker().ask("key", Index(b"one", b"leave", acme=3), acme=3)
    truth.commit("acme", b"other")
    await new_worker().invalidation.drain("acme", at(acme=4))
    worker = new_worker()
    asked = truth.asked

    served = [await worker.ask(key, Index(b"two", acme=4), acme=3) for key in ("key", "more")]

    assert [each.tier for each in served] == ["redis", "miss"]
    assert truth.asked == asked + 1  # once for the state, not for each look
    assert "went_back" not in worker.events
