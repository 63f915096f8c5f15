"""The layers on a real server: what is served, from where, and what is refused."""

import asyncio
from collections.abc import Callable

import pytest
from redis.asyncio import Redis

from cache.lookup import CacheLookup, ComputedAnswer
from cache.protocol import Revisions
from cache.redis.store import RedisStore
from cache.tiers.redis import ENTRY_BYTES_MAX
from tests.cache.support.histories import HISTORY, at
from tests.cache.support.search_stub import Index
from tests.cache.support.worker import CacheWorker, FakeChangeLog

pytestmark = [pytest.mark.anyio, pytest.mark.redis]

NewWorker = Callable[[], CacheWorker]


async def raw(redis: Redis, name: str) -> bytes:
    value = await redis.get(name)
    assert isinstance(value, bytes)
    return value


async def test_a_repeated_question_is_answered_from_memory(new_worker: NewWorker) -> None:
    worker, index = new_worker(), Index(b"one", acme=3)

    first = await worker.ask("key", index, acme=3)
    second = await worker.ask("key", index, acme=3)

    assert (first.tier, second.tier) == ("miss", "memory")
    assert first.body == second.body == b"one"
    assert index.asked == 1


async def test_another_worker_is_answered_from_redis(new_worker: NewWorker) -> None:
    index = Index(b"one", acme=3)
    await new_worker().ask("key", index, acme=3)

    served = await new_worker().ask("key", index, acme=3)

    assert (served.tier, served.body, served.valid_until) == ("redis", b"one", at(acme=3))
    assert index.asked == 1


async def test_a_large_answer_stays_in_the_process_that_computed_it(
    new_worker: NewWorker,
) -> None:
    worker, index = new_worker(), Index(b"x" * (ENTRY_BYTES_MAX + 1), acme=3)

    first = await worker.ask("key", index, acme=3)
    second = await worker.ask("key", index, acme=3)
    elsewhere = await new_worker().ask("key", index, acme=3)

    assert (first.stored, second.tier, elsewhere.tier) == (False, "memory", "miss")
    assert worker.events.count("oversized") == 1


async def test_a_change_that_nobody_drained_is_seen_by_the_next_reader(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    await new_worker().ask("key", Index(b"old", acme=3), acme=3)
    truth.commit("acme")
    new = Index(b"new", acme=4)

    reader = new_worker()
    served = await reader.ask("key", new, acme=4)

    assert (served.tier, served.body) == ("miss", b"new")
    assert "drained" in reader.events
    assert (await new_worker().ask("key", new, acme=4)).tier == "redis"


async def test_a_racing_fill_that_missed_the_change_is_refused(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    filler, writer = new_worker(), new_worker()
    old, new = Index(b"old", acme=3), Index(b"new", acme=4)
    old.may_end.clear()
    fill = asyncio.create_task(filler.ask("key", old, acme=3))
    await old.begun()  # its rows are read, its fill is not written yet

    truth.commit("acme")
    await writer.invalidation.drain("acme", at(acme=4))
    old.may_end.set()
    served = await fill

    assert (served.body, served.stored) == (b"old", False)  # right for who asked at revision 3
    assert "refused" in filler.events
    assert (await new_worker().ask("key", new, acme=4)).body == b"new"


async def test_a_fill_that_saw_the_change_is_kept(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    writer, new = new_worker(), Index(b"new", acme=4)
    await new_worker().ask("other", Index(b"old", acme=3), acme=3)

    truth.commit("acme")
    await writer.ask("key", new, acme=4)
    await writer.invalidation.drain("acme", at(acme=4))

    assert (await new_worker().ask("key", new, acme=4)).tier == "redis"


async def test_an_answer_newer_than_what_is_drained_says_how_new_it_is(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    worker, asked_before = new_worker(), {"acme": 3}
    truth.commit("acme")  # after somebody has asked, and before the rows are read
    await new_worker().ask("key", Index(b"new", acme=4), **asked_before)

    served = await worker.ask("key", Index(b"none", acme=4), **asked_before)

    assert (served.tier, served.body, served.valid_until) == ("redis", b"new", at(acme=4))
    assert (await worker.ask("key", Index(b"none", acme=4), acme=4)).tier == "memory"


async def test_an_answer_is_served_only_if_all_that_it_depends_on_vouches_for_it(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    before, after = {"acme": 3, "public": 7}, {"acme": 3, "public": 8}
    await new_worker().ask("key", Index(b"old", acme=3, public=7), **before)
    again = await new_worker().ask("key", Index(b"", acme=3, public=7), **before)
    assert again.tier == "redis"

    truth.commit("public")
    await new_worker().invalidation.drain("acme", at(acme=3))
    served = await new_worker().ask("key", Index(b"new", acme=3, public=8), **after)

    assert (served.tier, served.body) == ("miss", b"new")


async def test_what_depends_on_less_is_served_whatever_becomes_of_the_rest(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    await new_worker().ask("own", Index(b"own", acme=3), acme=3)
    await new_worker().ask("both", Index(b"both", acme=3, public=7), acme=3, public=7)

    truth.commit("public")
    await new_worker().invalidation.drain("acme", at(public=8))
    served = await new_worker().ask("own", Index(b"", acme=3), acme=3)

    assert (served.tier, served.body) == ("redis", b"own")


async def test_the_same_key_of_two_tenants_is_two_answers(new_worker: NewWorker) -> None:
    await new_worker().ask("key", Index(b"acme's", acme=3), acme=3)

    zetas = Index(b"zeta's", zeta=3)
    served = await new_worker().answers.get_or_compute(
        CacheLookup("zeta", "key"), at(zeta=3), zetas
    )

    assert (served.tier, served.body) == ("miss", b"zeta's")


async def test_an_answer_that_lacks_a_part_is_served_and_not_kept(new_worker: NewWorker) -> None:
    worker = new_worker()

    async def partial() -> ComputedAnswer:
        return ComputedAnswer(b"partial", at(acme=3), is_complete=False)

    served = await worker.ask("key", partial, acme=3)
    again = await worker.ask("key", Index(b"whole", acme=3), acme=3)

    assert (served.body, served.is_complete) == (b"partial", False)
    assert (again.tier, again.body) == ("miss", b"whole")


@pytest.mark.slow
async def test_callers_who_know_of_a_newer_change_do_not_join_an_older_fill(
    new_worker: NewWorker, truth: FakeChangeLog
) -> None:
    worker, old, new = new_worker(), Index(b"old", acme=3), Index(b"new", acme=4)
    old.may_end.clear()
    early = asyncio.create_task(worker.ask("key", old, acme=3))
    await old.begun()

    truth.commit("acme")
    late = await worker.ask("key", new, acme=4)
    old.may_end.set()

    assert late.body == b"new"
    assert (await early).body == b"old"
    assert (await worker.ask("key", new, acme=4)).body == b"new"


async def test_who_joins_a_computation_that_another_audience_answers_computes_its_own(
    new_worker: NewWorker,
) -> None:
    answers, begun, may_end = new_worker().answers, asyncio.Event(), asyncio.Event()
    seen, read = (Revisions(HISTORY, {"acme": 3}, {"acme": number}) for number in (1, 2))

    async def of_ana() -> ComputedAnswer:
        begun.set()
        await may_end.wait()
        return ComputedAnswer(b"ana's", read)

    async def of_bo() -> ComputedAnswer:
        return ComputedAnswer(b"bo's", read)

    first = asyncio.create_task(
        answers.get_or_compute(CacheLookup("acme", "seen", own_key="ana"), seen, of_ana)
    )
    await begun.wait()
    second = asyncio.create_task(
        answers.get_or_compute(CacheLookup("acme", "seen", own_key="bo"), seen, of_bo)
    )
    await asyncio.sleep(0)  # it has joined
    may_end.set()

    assert [(await first).body, (await second).body] == [b"ana's", b"bo's"]


async def test_two_workers_that_miss_together_compute_once(new_worker: NewWorker) -> None:
    first, second = Index(b"first", acme=3), Index(b"second", acme=3)
    first.may_end.clear()
    waiter = new_worker()
    filling = asyncio.create_task(new_worker().ask("key", first, acme=3))
    await first.begun()

    waiting = asyncio.create_task(waiter.ask("key", second, acme=3))
    while "waited" not in waiter.events:
        await asyncio.sleep(0)
    first.may_end.set()

    assert (await waiting).body == (await filling).body == b"first"
    assert second.asked == 0


async def test_who_waits_for_a_computation_that_fails_computes_itself(
    new_worker: NewWorker,
) -> None:
    waiter, index = new_worker(), Index(b"mine", acme=3)
    may_fail, begun = asyncio.Event(), asyncio.Event()

    async def failing() -> ComputedAnswer:
        begun.set()
        await may_fail.wait()
        raise ConnectionError

    filling = asyncio.create_task(new_worker().ask("key", failing, acme=3))
    await begun.wait()
    waiting = asyncio.create_task(waiter.ask("key", index, acme=3))
    while "waited" not in waiter.events:
        await asyncio.sleep(0)
    may_fail.set()

    with pytest.raises(ConnectionError):
        await filling
    assert ((await waiting).body, index.asked) == (b"mine", 1)


@pytest.mark.parametrize("lost", ["state", "entries", "key"])
async def test_whatever_redis_evicts_the_answer_stays_right(
    new_worker: NewWorker, truth: FakeChangeLog, store: RedisStore, redis: Redis, lost: str
) -> None:
    await new_worker().ask("key", Index(b"old", acme=3), acme=3)

    await redis.delete(store.name("acme", lost))
    await new_worker().ask("another", Index(b"another", acme=3), acme=3)
    truth.commit("acme")
    await new_worker().invalidation.drain("acme", at(acme=4))
    served = await new_worker().ask("key", Index(b"new", acme=4), acme=4)

    assert served.body == b"new"


async def test_an_entry_that_outlived_an_evicted_state_is_no_entry(
    new_worker: NewWorker, store: RedisStore, redis: Redis
) -> None:
    await new_worker().ask("key", Index(b"old", acme=3), acme=3)

    await redis.delete(store.name("acme", "state"))
    served = await new_worker().ask("key", Index(b"again", acme=3), acme=3)

    assert (served.tier, served.body) == ("miss", b"again")


async def test_a_state_made_on_another_process_counts_as_none(
    new_worker: NewWorker, store: RedisStore, redis: Redis
) -> None:
    await new_worker().ask("key", Index(b"old", acme=3), acme=3)
    state = await raw(redis, store.name("acme", "state"))
    run = state.split()[1]

    # As after a failover to a replica that has everything but is another process.
    await redis.set(store.name("acme", "state"), state.replace(run, b"0" * 80))
    worker = new_worker()
    served = await worker.ask("key", Index(b"again", acme=3), acme=3)

    assert (served.tier, served.body) == ("miss", b"again")
    assert "reset" in worker.events


@pytest.mark.parametrize(
    "poison",
    [
        lambda value: value[:-1] + b"X",
        lambda value: value[:-2],
        lambda value: value[:20],
        lambda value: b"4" + value[1:],
        lambda value: value.replace(b" acme:3 ", b" acme:9 ", 1).replace(b"\n", b"\r", 1),
        lambda _: b"",
        lambda _: bytes(range(256)),
    ],
    ids=["altered", "cut", "cut in its head", "another format", "no line", "empty", "garbage"],
)
async def test_a_poisoned_entry_is_not_served(
    new_worker: NewWorker, store: RedisStore, redis: Redis, poison: Callable[[bytes], bytes]
) -> None:
    await new_worker().ask("key", Index(b"old", acme=3), acme=3)
    name = store.name("acme", "key")

    await redis.set(name, poison(await raw(redis, name)))
    served = await new_worker().ask("key", Index(b"right", acme=3), acme=3)

    assert (served.tier, served.body) == ("miss", b"right")


async def test_a_dropped_answer_is_computed_anew(new_worker: NewWorker) -> None:
    worker = new_worker()
    await worker.ask("key", Index(b"wrong", acme=3), acme=3)

    await worker.answers.drop("acme", "key")

    for asking in (worker, new_worker()):
        served = await asking.ask("key", Index(b"right", acme=3), acme=3)
        assert served.body == b"right"
